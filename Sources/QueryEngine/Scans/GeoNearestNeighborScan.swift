internal import DocumentModel

/// A scan of geo points by distance from a center, with an expanding radius; for descending order, around the antipode of the center.
struct GeoNearestNeighborScan: Sendable {
    let field: FieldPath
    let center: GeoPoint
    /// True if the nearest documents come first.
    let isNearestFirst: Bool
    /// The radius at which the scan is complete.
    private let maximumRadius: Double

    /// Half the Earth's circumference.
    private static let greatestDistance = GeoPoint.earthRadius * .pi
    /// The first radius, in meters. It doubles with each step.
    private static let initialRadius = 10.0

    /// Creates a scan; `nil` if the query is not ordered by the distance of an indexed field first.
    init?(_ query: NormalizedQuery, _ disjuncts: [FilterDisjunct], _ policy: IndexingPolicy) {
        guard let order = query.orders.first, case .distance(let field, let center) = order.key, !policy.isExempt(field) else {
            return nil
        }
        self.field = field
        self.center = center
        isNearestFirst = order.direction == .ascending
        // The smallest radius among the filter's circles around this center; no match is farther away.
        var radius = Self.greatestDistance
        if isNearestFirst, disjuncts.count == 1 {
            let circles = disjuncts[0].geoScans.compactMap(\.circle).filter { $0.center == center }
            radius = min(radius, circles.map(\.radius).min() ?? radius)
        }
        maximumRadius = radius
    }

    /// The plan line of the scan.
    var planText: String {
        isNearestFirst
            ? "Nearest-neighbor scan of \(field), expanding radius"
            : "Farthest-neighbor scan of \(field), expanding radius around the antipode"
    }

    /// Calls `body` with each radius and the boxes to scan, until it returns `false`.
    func forEachStep(
        _ body: (_ radius: Double, _ boxes: [GeoIndexBox]) throws(StatusError) -> Bool
    ) throws(StatusError) {
        let origin = isNearestFirst ? center : try center.antipode
        var radius = Self.initialRadius
        while true {
            let reach = min(radius, maximumRadius)
            let circle = try GeoCircle(center: origin, radius: reach + 0.01)
            guard try body(reach, GeoScan(field, circle.boundingBox).boxes), radius < maximumRadius else { return }
            radius *= 2
        }
    }

    /// Returns whether no document outside a radius sorts before a document at a distance from the center.
    func isFinal(distance: Double, radius: Double) -> Bool {
        isNearestFirst ? distance <= radius : distance >= Self.greatestDistance - radius
    }
}

extension GeoPoint {
    /// The antipodal point.
    fileprivate var antipode: GeoPoint {
        get throws(StatusError) {
            try GeoPoint(validatingLatitude: -latitude, longitude: longitude > 0 ? longitude - 180 : longitude + 180)
        }
    }
}
