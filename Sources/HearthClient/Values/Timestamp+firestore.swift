internal import DocumentModel
public import Foundation

extension Timestamp {
    /// Makes the moment so many seconds and nanoseconds after the start of 1970.
    ///
    /// Documents hold microseconds: what is finer is cut off. A moment outside the years 1 to 9999, and nanoseconds outside a
    /// second, are mistakes in the program and end it.
    public init(seconds: Int64, nanoseconds: Int32) {
        precondition(
            (Self.minimum.seconds...Self.maximum.seconds).contains(seconds),
            "Timestamp seconds out of range: \(seconds); a timestamp lies in the years 1 to 9999."
        )
        precondition((0..<1_000_000_000).contains(nanoseconds), "Timestamp nanoseconds out of range: \(nanoseconds).")
        self = Self.checked { () throws(StatusError) in
            try Timestamp(microseconds: seconds * 1_000_000 + Int64(nanoseconds / 1_000))
        }
    }

    /// Makes the moment of a date, to the nearest microsecond. A date outside the years 1 to 9999 ends the program.
    public init(date: Date) {
        self = Self.checked { () throws(StatusError) in try Timestamp(nearest: date) }
    }

    /// The present moment.
    public init() {
        self.init(date: Date())
    }

    /// The whole seconds since the start of 1970, rounded down.
    public var seconds: Int64 {
        microseconds.dividedRoundingDown.seconds
    }

    /// The nanoseconds since that second.
    public var nanoseconds: Int32 {
        Int32(microseconds.dividedRoundingDown.microseconds * 1_000)
    }

    /// The date.
    public func dateValue() -> Date {
        // From 2001, where a Date counts from, a double still tells microseconds apart.
        Date(timeIntervalSinceReferenceDate: Double(microseconds - Self.referenceDate) / 1_000_000)
    }

    init(nearest date: Date) throws(StatusError) {
        // Added as integers: the sum may have more digits than a double.
        let sinceReference = Int64(exactly: (date.timeIntervalSinceReferenceDate * 1_000_000).rounded())
        guard let (microseconds, isTooLarge) = sinceReference?.addingReportingOverflow(Self.referenceDate), !isTooLarge else {
            throw StatusError(.invalidArgument, "Expected a date in the years 1 to 9999, found one far beyond them.")
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

    /// The start of 2001, in microseconds since the start of 1970.
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

    /// Decodes a map of seconds and nanoseconds, as other coders than Firestore's have it.
    public init(from decoder: any Swift.Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        let seconds = try container.decode(Int64.self, forKey: .seconds)
        let nanoseconds = try container.decode(Int32.self, forKey: .nanoseconds)
        let (microseconds, isTooLarge) = seconds.multipliedReportingOverflow(by: 1_000_000)
        do throws(StatusError) {
            guard !isTooLarge, (0..<1_000_000_000).contains(nanoseconds) else {
                throw StatusError(.invalidArgument, "Expected the seconds and nanoseconds of a time.")
            }
            try self.init(microseconds: microseconds + Int64(nanoseconds / 1_000))
        } catch {
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: error.message))
        }
    }

    /// Encodes a map of seconds and nanoseconds, for other coders than Firestore's.
    public func encode(to encoder: any Swift.Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(seconds, forKey: .seconds)
        try container.encode(nanoseconds, forKey: .nanoseconds)
    }
}
