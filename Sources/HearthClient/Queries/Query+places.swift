internal import DocumentModel

// Hearth's own, beside what Firestore has.
extension Query {
    /// Documents whose field is a point no farther from a center than a number of metres.
    public func whereField(_ field: String, isNear center: GeoPoint, radius: Double) -> Query {
        whereFilter(.whereField(field, isNear: center, radius: radius))
    }

    /// Documents whose field is a point in the box between two corners. Where the north-east's longitude is the lesser, the
    /// box goes across the antimeridian.
    public func whereField(_ field: String, isWithin southWest: GeoPoint, _ northEast: GeoPoint) -> Query {
        whereFilter(.whereField(field, isWithin: southWest, northEast))
    }

    /// Documents in the order of how far the point in a field is from another. Those without a point there are not in the
    /// result. A cursor's value is a number of metres.
    public func order(byDistanceOf field: String, from center: GeoPoint, descending: Bool = false) -> Query {
        ordered(descending: descending) { () throws(StatusError) in .distance(of: try FieldPath(dotted: field), from: center) }
    }
}

extension Filter {
    /// Documents whose field is a point no farther from a center than a number of metres.
    public static func whereField(_ field: String, isNear center: GeoPoint, radius: Double) -> Filter {
        Filter(field) { _ throws(StatusError) in .near(try GeoCircle(center: center, radius: radius)) }
    }

    /// Documents whose field is a point in the box between two corners. Where the north-east's longitude is the lesser, the
    /// box goes across the antimeridian.
    public static func whereField(_ field: String, isWithin southWest: GeoPoint, _ northEast: GeoPoint) -> Filter {
        Filter(field) { _ throws(StatusError) in .within(try GeoBox(southWest: southWest, northEast: northEast)) }
    }
}
