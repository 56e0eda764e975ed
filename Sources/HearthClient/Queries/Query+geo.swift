internal import DocumentModel

// Hearth's extensions to the Firestore API.
extension Query {
    /// Adds a filter that is true if a geo point is within a radius of a center, in meters.
    public func whereField(_ field: String, isNear center: GeoPoint, radius: Double) -> Query {
        whereFilter(.whereField(field, isNear: center, radius: radius))
    }

    /// Adds a filter that is true if a geo point is within a bounding box. If the longitude of the northeast corner is less than
    /// that of the southwest corner, the box crosses the antimeridian.
    public func whereField(_ field: String, isWithin southWest: GeoPoint, _ northEast: GeoPoint) -> Query {
        whereFilter(.whereField(field, isWithin: southWest, northEast))
    }

    /// Sorts by the distance of a geo point from a center. Documents without a geo point in the field are excluded. The cursor
    /// value for this order is a distance in meters.
    public func order(byDistanceOf field: String, from center: GeoPoint, descending: Bool = false) -> Query {
        ordered(descending: descending) { () throws(StatusError) in .distance(of: try FieldPath(dotted: field), from: center) }
    }
}

extension Filter {
    /// Returns a filter that is true if a geo point is within a radius of a center, in meters.
    public static func whereField(_ field: String, isNear center: GeoPoint, radius: Double) -> Filter {
        Filter(field) { _ throws(StatusError) in .near(try GeoCircle(center: center, radius: radius)) }
    }

    /// Returns a filter that is true if a geo point is within a bounding box. If the longitude of the northeast corner is less
    /// than that of the southwest corner, the box crosses the antimeridian.
    public static func whereField(_ field: String, isWithin southWest: GeoPoint, _ northEast: GeoPoint) -> Filter {
        Filter(field) { _ throws(StatusError) in .within(try GeoBox(southWest: southWest, northEast: northEast)) }
    }
}
