internal import DocumentModel
public import Foundation

extension Timestamp {
    /// Creates a timestamp from seconds and nanoseconds since 1970-01-01, truncated to microseconds.
    ///
    /// - Precondition: The time is in the years 1 to 9999, and `nanoseconds` is less than one second.
    public init(seconds: Int64, nanoseconds: Int32) {
        precondition(
            (Self.minimum.seconds...Self.maximum.seconds).contains(seconds),
            "Timestamp seconds out of range: \(seconds). Expected a time in the years 1 to 9999."
        )
        precondition((0..<1_000_000_000).contains(nanoseconds), "Timestamp nanoseconds out of range: \(nanoseconds).")
        self = Self.checked { () throws(StatusError) in
            try Timestamp(microseconds: seconds * 1_000_000 + Int64(nanoseconds / 1_000))
        }
    }

    /// Creates a timestamp from a date, rounded to the nearest microsecond.
    ///
    /// - Precondition: The date is in the years 1 to 9999.
    public init(date: Date) {
        self = Self.checked { () throws(StatusError) in try Timestamp(nearest: date) }
    }

    /// Creates a timestamp of the current time.
    public init() {
        self.init(date: Date())
    }

    /// The seconds since 1970-01-01, rounded down.
    public var seconds: Int64 {
        microseconds.dividedRoundingDown.seconds
    }

    /// The nanoseconds within the second.
    public var nanoseconds: Int32 {
        Int32(microseconds.dividedRoundingDown.microseconds * 1_000)
    }

    /// Returns the date.
    public func dateValue() -> Date {
        // Relative to 2001, the reference date of Date, a double has microsecond resolution.
        Date(timeIntervalSinceReferenceDate: Double(microseconds - Self.referenceDate) / 1_000_000)
    }

    /// Compares two times.
    public func compare(_ other: Timestamp) -> ComparisonResult {
        self < other ? .orderedAscending : self == other ? .orderedSame : .orderedDescending
    }

    init(nearest date: Date) throws(StatusError) {
        // Added as integers: the sum may exceed the precision of a double.
        let sinceReference = Int64(exactly: (date.timeIntervalSinceReferenceDate * 1_000_000).rounded())
        guard let (microseconds, isTooLarge) = sinceReference?.addingReportingOverflow(Self.referenceDate), !isTooLarge else {
            throw StatusError(.invalidArgument, "Expected a date in the years 1 to 9999.")
        }
        try self.init(microseconds: microseconds)
    }

    private static func checked(_ make: () throws(StatusError) -> Timestamp) -> Timestamp {
        do {
            return try make()
        } catch {
            preconditionFailure(error.message)
        }
    }

    /// 2001-01-01 in microseconds since 1970-01-01.
    private static let referenceDate: Int64 = 978_307_200_000_000
}

extension Int64 {
    fileprivate var dividedRoundingDown: (seconds: Int64, microseconds: Int64) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: 1_000_000)
        return remainder < 0 ? (quotient - 1, remainder + 1_000_000) : (quotient, remainder)
    }
}

extension Timestamp: Codable {
    private enum CodingKeys: String, CodingKey {
        case seconds
        case nanoseconds
    }

    /// Decodes a map with `seconds` and `nanoseconds`, the representation in coders other than Firestore's.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try container.decode(Int64.self, forKey: .seconds)
        let nanoseconds = try container.decode(Int32.self, forKey: .nanoseconds)
        let (microseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        do throws(StatusError) {
            guard !isTooLarge, (0..<1_000_000_000).contains(nanoseconds) else {
                throw StatusError(.invalidArgument, "Expected the seconds and nanoseconds of a timestamp.")
            }
            try self.init(microseconds: microseconds + Int64(nanoseconds / 1_000))
        } catch {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.message))
        }
    }

    /// Encodes a map with `seconds` and `nanoseconds`, the representation in coders other than Firestore's.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(nanoseconds, forKey: .nanoseconds)
    }
}
