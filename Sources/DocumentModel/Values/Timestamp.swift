/// A moment in UTC, to the microsecond, from the start of the year 1 to the end of the year 9999.
///
/// The calendar is the Gregorian one, also before its introduction; a day has 86,400 seconds, so leap seconds have no
/// moment of their own.
public struct Timestamp: Hashable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z; negative before.
    public let microseconds: Int64

    /// Makes the moment so many microseconds after the start of 1970.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it is outside the years 1 to 9999.
    public init(microseconds: Int64) throws(StatusError) {
        guard (Self.minimum.microseconds...Self.maximum.microseconds).contains(microseconds) else {
            throw StatusError(
                .invalidArgument,
                "Expected a time from \(Self.minimum) to \(Self.maximum), found \(microseconds) microseconds since 1970."
            )
        }
        self.init(unchecked: microseconds)
    }

    /// For values that are in range by construction.
    init(unchecked microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The first moment, 0001-01-01T00:00:00.000000Z.
    public static let minimum = Timestamp(unchecked: -62_135_596_800_000_000)
    /// The last moment, 9999-12-31T23:59:59.999999Z.
    public static let maximum = Timestamp(unchecked: 253_402_300_799_999_999)
}

extension Timestamp: Comparable {
    /// Whether `left` is the earlier.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time as ``rfc3339``.
    public var description: String { rfc3339 }
}
