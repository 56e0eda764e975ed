/// A circle on the sphere: all points within a distance of a center.
package struct GeoCircle: Hashable, Sendable {
    /// The center.
    package let center: GeoPoint
    /// The inclusive radius in meters along the surface.
    package let radius: Double

    /// Creates a circle.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the radius is negative, infinite or NaN.
    package init(center: GeoPoint, radius: Double) throws(StatusError) {
        guard radius >= 0, radius.isFinite else {
            throw StatusError(.invalidArgument, "Expected a finite radius of at least 0 meters, found \(radius).")
        }
        self.center = center
        self.radius = radius
    }

    /// Returns whether a point is in the circle.
    package func contains(_ point: GeoPoint) -> Bool {
        center.distance(to: point) <= radius
    }
}
