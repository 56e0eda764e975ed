/// How much a text may ask of its reader.
public struct JSONLimits: Sendable, Hashable {
    /// The longest text, in bytes. What lies above ``largestText`` counts as that.
    public var maximumBytes: Int
    /// How many arrays and objects may lie inside each other; 0 allows scalars only.
    public var maximumDepth: Int

    /// No text may be longer, whatever ``maximumBytes`` says: 256 MiB, what the tape can count.
    public static let largestText = 256 << 20

    /// Makes limits; by default 16 MiB and 64 levels.
    public init(maximumBytes: Int = 16 << 20, maximumDepth: Int = 64) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
    }
}
