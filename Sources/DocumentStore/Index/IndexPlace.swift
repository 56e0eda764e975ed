internal import DocumentModel

/// A geo point in the R*Tree: whole numbers of a ten-millionth of a degree (1.1 cm) around it, in a space.
///
/// The tree holds 32-bit numbers. A point is the smallest box of such numbers around it, so a search finds all points that are
/// in a box and some right beside it. The spaces are four apart and one wide: in the same space boxes differ by place only.
struct IndexPlace {
    /// The bounds of latitude and of longitude.
    let latitudes: ClosedRange<Int32>
    let longitudes: ClosedRange<Int32>

    /// The box of bounds that the tree has.
    init(latitudes: ClosedRange<Int32>, longitudes: ClosedRange<Int32>) {
        self.latitudes = latitudes
        self.longitudes = longitudes
    }

    /// The box around a point.
    init(_ point: GeoPoint) {
        self.init(south: point.latitude, north: point.latitude, west: point.longitude, east: point.longitude)
    }

    /// The box around a box of degrees.
    init(south: Double, north: Double, west: Double, east: Double) {
        latitudes = Self.range(south, north, limit: 90)
        longitudes = Self.range(west, east, limit: 180)
    }

    /// Whether the boxes have a place in common.
    func overlaps(_ other: IndexPlace) -> Bool {
        latitudes.overlaps(other.latitudes) && longitudes.overlaps(other.longitudes)
    }

    /// The bounds of a space in the tree, by its number among those that have places.
    static func spaces(_ number: Int64) -> (lower: Int64, upper: Int64) { (4 * number, 4 * number + 1) }

    /// How many geo points of a document have their own numbers, of 1 MiB / 16.
    static let maximumCount: Int64 = 1 << 18

    private static func range(_ lower: Double, _ upper: Double, limit: Double) -> ClosedRange<Int32> {
        let lower = (max(lower, -limit) * scale).rounded(.down)
        let upper = (min(upper, limit) * scale).rounded(.up)
        return Int32(lower)...Int32(max(lower, upper))
    }

    private static let scale = 1e7
}
