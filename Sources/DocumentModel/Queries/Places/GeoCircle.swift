/// All points within a distance of a point.
package struct GeoCircle: Hashable, Sendable {
    /// The point in the middle.
    package let center: GeoPoint
    /// How far the others may be, in metres along the sphere; those at exactly this distance belong to the circle.
    package let radius: Double

    /// Makes a circle.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when the radius is negative, infinite or no number.
    package init(center: GeoPoint, radius: Double) throws(StatusError) {
        guard radius >= 0, radius.isFinite else {
            throw StatusError(.invalidArgument, "Expected a radius of 0 or more metres, found \(radius).")
        }
        self.center = center
        self.radius = radius
    }

    /// Whether a point is in the circle.
    package func contains(_ point: GeoPoint) -> Bool {
        center.distance(to: point) <= radius
    }
}
