package import DocumentModel

/// A bounding box in a geo index, in integer units of 1e-7 degrees (1.1 cm), which fit in 32 bits.
///
/// A geo point is indexed as its smallest enclosing box, so a search returns all points in a box and possibly some just outside
/// it.
package struct GeoIndexBox: Sendable {
    /// The range of latitudes.
    package let latitudes: ClosedRange<Int32>
    /// The range of longitudes.
    package let longitudes: ClosedRange<Int32>

    /// Creates a box from the coordinates in an index.
    package init(latitudes: ClosedRange<Int32>, longitudes: ClosedRange<Int32>) {
        self.latitudes = latitudes
        self.longitudes = longitudes
    }

    /// Creates the smallest box that encloses a point.
    package init(_ point: GeoPoint) {
        self.init(south: point.latitude, north: point.latitude, west: point.longitude, east: point.longitude)
    }

    /// Creates the smallest box that encloses a box in degrees.
    package init(south: Double, north: Double, west: Double, east: Double) {
        latitudes = Self.range(south, north, limit: 90)
        longitudes = Self.range(west, east, limit: 180)
    }

    /// Returns whether the boxes overlap.
    package func overlaps(_ other: GeoIndexBox) -> Bool {
        latitudes.overlaps(other.latitudes) && longitudes.overlaps(other.longitudes)
    }

    private static func range(_ lower: Double, _ upper: Double, limit: Double) -> ClosedRange<Int32> {
        let lower = (max(lower, -limit) * scale).rounded(.down)
        let upper = (min(upper, limit) * scale).rounded(.up)
        return Int32(lower)...Int32(max(lower, upper))
    }

    private static let scale = 1e7
}
