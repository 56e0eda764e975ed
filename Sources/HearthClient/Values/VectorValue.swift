/// A vector, for nearest-neighbor searches.
public struct VectorValue: Hashable, Sendable, Codable {
    /// The components.
    public let array: [Double]

    /// Creates a vector.
    public init(_ array: [Double]) {
        self.array = array
    }
}
