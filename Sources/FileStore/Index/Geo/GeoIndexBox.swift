internal import DocumentModel

/// A bounding box in the R*Tree, in integer units of 1e-7 degrees (1.1 cm).
///
/// The tree holds 32-bit coordinates. A geo point is stored as its smallest enclosing box, so a search returns all points in a box
/// and possibly some right beside it. Space ranges are four apart and one wide, so that boxes of different spaces never overlap.
struct GeoIndexBox {
    let latitudes: ClosedRange<Int32>
    let longitudes: ClosedRange<Int32>

    /// Creates a box from the coordinates in the tree.
    init(latitudes: ClosedRange<Int32>, longitudes: ClosedRange<Int32>) {
        self.latitudes = latitudes
        self.longitudes = longitudes
    }

    /// Creates the smallest box that encloses a point.
    init(_ point: GeoPoint) {
        self.init(south: point.latitude, north: point.latitude, west: point.longitude, east: point.longitude)
    }

    /// Creates the smallest box that encloses a box in degrees.
    init(south: Double, north: Double, west: Double, east: Double) {
        latitudes = Self.range(south, north, limit: 90)
        longitudes = Self.range(west, east, limit: 180)
    }

    /// Returns whether the boxes overlap.
    func overlaps(_ other: GeoIndexBox) -> Bool {
        latitudes.overlaps(other.latitudes) && longitudes.overlaps(other.longitudes)
    }

    /// Returns the range of a space in the tree's first dimension, by its ID in `placeSpaces`.
    static func spaceRange(_ id: Int64) -> (lower: Int64, upper: Int64) { (4 * id, 4 * id + 1) }

    /// The maximum number of geo points of a document, 1 MiB / 16 bytes, rounded up: each needs a row ID of its own.
    static let maximumPointsPerDocument: Int64 = 1 << 18

    private static func range(_ lower: Double, _ upper: Double, limit: Double) -> ClosedRange<Int32> {
        let lower = (max(lower, -limit) * scale).rounded(.down)
        let upper = (min(upper, limit) * scale).rounded(.up)
        return Int32(lower)...Int32(max(lower, upper))
    }

    private static let scale = 1e7
}
