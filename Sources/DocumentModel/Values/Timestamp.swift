/// A point in time in UTC with microsecond precision, from the start of year 1 to the end of year 9999.
///
/// The calendar is proleptic Gregorian. A day has 86,400 seconds; leap seconds are not represented.
public struct Timestamp: Hashable, Sendable {
    /// Microseconds since 1970-01-01T00:00:00Z; negative before it.
    public let microseconds: Int64

    /// Creates a timestamp from microseconds since the Unix epoch.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the time is outside the years 1 to 9999.
    public init(microseconds: Int64) throws(StatusError) {
        guard (Self.minimum.microseconds...Self.maximum.microseconds).contains(microseconds) else {
            throw StatusError(
                .invalidArgument,
                "Expected a time from \(Self.minimum) to \(Self.maximum), found \(microseconds) microseconds since 1970."
            )
        }
        self.init(unchecked: microseconds)
    }

    /// Creates a timestamp from a value that is known to be in range.
    init(unchecked microseconds: Int64) {
        self.microseconds = microseconds
    }

    /// The earliest timestamp, 0001-01-01T00:00:00.000000Z.
    public static let minimum = Timestamp(unchecked: -62_135_596_800_000_000)
    /// The latest timestamp, 9999-12-31T23:59:59.999999Z.
    public static let maximum = Timestamp(unchecked: 253_402_300_799_999_999)
}

extension Timestamp: Comparable {
    /// Returns whether `left` is earlier than `right`.
    public static func < (left: Timestamp, right: Timestamp) -> Bool {
        left.microseconds < right.microseconds
    }
}

extension Timestamp: CustomStringConvertible {
    /// The time in RFC 3339 format, as ``rfc3339``.
    public var description: String { rfc3339 }
}
