/// Limits on the size and nesting of a JSON text.
public struct JSONLimits: Sendable, Hashable {
    /// The maximum length of a text in bytes, capped at ``maximumTextBytes``.
    public var maximumBytes: Int
    /// The maximum nesting depth of arrays and objects; 0 allows scalars only.
    public var maximumDepth: Int

    /// The hard limit on the length of a text: 256 MiB, the range of the tape's counters.
    public static let maximumTextBytes = 256 << 20

    /// Creates limits; the defaults are 16 MiB and 64 levels.
    public init(maximumBytes: Int = 16 << 20, maximumDepth: Int = 64) {
        self.maximumBytes = maximumBytes
        self.maximumDepth = maximumDepth
    }
}
