/// Numbers that say what something means, for the search for what is near.
public struct VectorValue: Hashable, Sendable, Codable {
    /// The numbers.
    public let array: [Double]

    /// Makes a vector.
    public init(_ array: [Double]) {
        self.array = array
    }
}
