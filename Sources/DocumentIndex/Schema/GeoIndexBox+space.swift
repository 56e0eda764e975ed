internal import QueryEngine

// The position of a box in the R*Tree. Space ranges are four apart and one wide, so that boxes of different spaces never overlap.

extension GeoIndexBox {
    /// Returns the range of a space in the tree's first dimension, by its ID in `placeSpaces`.
    static func spaceRange(_ id: Int64) -> (lower: Int64, upper: Int64) { (4 * id, 4 * id + 1) }

    /// The maximum number of geo points of a document, 1 MiB / 16 bytes, rounded up: each needs its own row ID.
    static let maximumPointsPerDocument: Int64 = 1 << 18
}
