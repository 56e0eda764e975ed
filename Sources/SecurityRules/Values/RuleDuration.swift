/// A span of time with nanosecond precision, up to ±315,576,000,000 seconds (10,000 years).
package struct RuleDuration: Hashable, Comparable, Sendable {
    let nanoseconds: Int128

    private static let maximum: Int128 = 315_576_000_000 * 1_000_000_000

    /// Creates a duration, or `nil` if it is out of range.
    init?(nanoseconds: Int128) {
        guard (-Self.maximum...Self.maximum).contains(nanoseconds) else { return nil }
        self.nanoseconds = nanoseconds
    }

    /// Creates a duration that is known to be in range.
    init(unchecked nanoseconds: Int128) {
        self.nanoseconds = nanoseconds
    }

    /// Creates a number of units (`w d h m s ms ns`), or `nil` if the unit is unknown or the duration is out of range.
    init?(_ count: Int64, unit: String) {
        let scale: Int128
        switch unit {
        case "w": scale = 7 * 86_400 * 1_000_000_000
        case "d": scale = 86_400 * 1_000_000_000
        case "h": scale = 3_600 * 1_000_000_000
        case "m": scale = 60 * 1_000_000_000
        case "s": scale = 1_000_000_000
        case "ms": scale = 1_000_000
        case "ns": scale = 1
        default: return nil
        }
        self.init(nanoseconds: Int128(count) * scale)
    }

    /// The whole seconds, towards zero.
    var seconds: Int64 { Int64(nanoseconds / 1_000_000_000) }

    /// The nanoseconds beyond ``seconds``, with the same sign.
    var nanosecondsOfSecond: Int64 { Int64(nanoseconds % 1_000_000_000) }

    /// Returns whether `left` is shorter, or further below zero.
    package static func < (left: RuleDuration, right: RuleDuration) -> Bool { left.nanoseconds < right.nanoseconds }
}
