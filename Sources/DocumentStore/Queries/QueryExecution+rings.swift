internal import DocumentModel

extension QueryExecution {
    /// An order by the distance from a point.
    typealias RingOrder = (field: FieldPath, center: GeoPoint, direction: Query.Order.Direction)

    /// The order by distance that all others come behind; nil when there is none.
    var ringOrder: RingOrder? {
        guard let order = query.orders.first, case .distance(let field, let center) = order.key, !rules.isExempt(field) else {
            return nil
        }
        return (field, center, order.direction)
    }

    /// Half of the Earth's circumference: no place is farther away.
    private static let farthest = GeoPoint.earthRadius * .pi
    private static let firstRadius = 10.0

    /// Looks at the places around a point, or for the farthest first around the opposite one, farther and farther away.
    func takeRings(
        _ field: FieldPath,
        _ center: GeoPoint,
        _ direction: Query.Order.Direction
    ) throws(StatusError) {
        let isNearest = direction == .ascending
        plan.append(
            "Take the documents with a place in \(field) in growing circles around the \(isNearest ? "point" : "opposite point")"
        )
        plan.append("Read and check each until there are enough")
        let middle = isNearest ? center : try center.opposite
        let end = isNearest ? farthestWanted(field, center) : Self.farthest
        var radius = Self.firstRadius
        var known: [IndexPlace] = []
        let sieve = try NameSieve(alternatives, index)
        while true {
            let isLast = radius >= end
            let reach = min(radius, end)
            let boxes = PlaceScan(field, try GeoCircle(center: middle, radius: reach + 0.01).boundingBox).boxes
            try index.snapshot.forEachPlace(index.names.target, field, in: boxes, outside: known) { name throws(StatusError) in
                index.rows += 1
                if try sieve.passes(Array(name)), let path = index.names.path(name), let found = try find(path) {
                    try selection.add(found)
                }
                return true
            }
            known = boxes
            if isLast { return try selection.endGroup() }
            try selection.endGroup { found in
                guard case .double(let distance)? = found.key.values.first else { return false }
                return isNearest ? distance <= reach : distance >= Self.farthest - reach
            }
            if selection.isFull { return }
            radius *= 2
        }
    }

    /// How far away a document may be by the filter.
    private func farthestWanted(_ field: FieldPath, _ center: GeoPoint) -> Double {
        guard alternatives.count == 1 else { return Self.farthest }
        let radii = alternatives[0].places.compactMap(\.circle).filter { $0.center == center }.map(\.radius)
        return min(Self.farthest, radii.min() ?? Self.farthest)
    }
}

extension GeoPoint {
    /// The place on the other side of the Earth.
    fileprivate var opposite: GeoPoint {
        get throws(StatusError) {
            try GeoPoint(validatingLatitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
        }
    }
}
