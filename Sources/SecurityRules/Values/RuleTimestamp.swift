internal import DocumentModel

/// A point in time in UTC with nanosecond precision, in the years 1 to 9999.
package struct RuleTimestamp: Hashable, Comparable, Sendable {
    /// Nanoseconds since 1970.
    let nanoseconds: Int128

    private static let bounds =
        Int128(Timestamp.minimum.microseconds) * 1_000...Int128(Timestamp.maximum.microseconds) * 1_000 + 999

    init(_ timestamp: Timestamp) {
        nanoseconds = Int128(timestamp.microseconds) * 1_000
    }

    /// Creates a timestamp, or `nil` if it is out of range.
    init?(nanoseconds: Int128) {
        guard Self.bounds.contains(nanoseconds) else { return nil }
        self.nanoseconds = nanoseconds
    }

    /// Creates the first moment of a day, or `nil` if there is no such day.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...9_999).contains(year), (1...12).contains(month),
            day >= 1, day <= CivilDate.days(inMonth: Int(month), ofYear: Int(year))
        else { return nil }
        let date = CivilDate(year: Int(year), month: Int(month), day: Int(day))
        self.init(nanoseconds: Int128(date.daysSince1970) * Self.day)
    }

    private static let day: Int128 = 86_400_000_000_000

    /// Returns whether `left` is earlier.
    package static func < (left: RuleTimestamp, right: RuleTimestamp) -> Bool { left.nanoseconds < right.nanoseconds }
}

extension RuleTimestamp {
    /// The day.
    var date: CivilDate { CivilDate(daysSince1970: Int(nanoseconds.dividedDown(by: Self.day))) }

    /// The first moment of the day.
    var startOfDay: RuleTimestamp {
        // The earliest and the latest timestamp are on whole days, so the start of a day is in range.
        RuleTimestamp(nanoseconds: nanoseconds - timeOfDay.nanoseconds) ?? self
    }

    /// The time since the start of the day.
    var timeOfDay: RuleDuration {
        RuleDuration(unchecked: nanoseconds - nanoseconds.dividedDown(by: Self.day) * Self.day)
    }

    /// The whole milliseconds since 1970.
    var milliseconds: Int64 { Int64(nanoseconds.dividedDown(by: 1_000_000)) }

    /// The nanoseconds since the start of the second.
    var nanosecondsOfSecond: Int64 { Int64(timeOfDay.nanoseconds % 1_000_000_000) }

    /// The day of the week, from 1 for Monday to 7 for Sunday.
    var dayOfWeek: Int64 {
        // 1970-01-01 was a Thursday.
        let days = Int64(nanoseconds.dividedDown(by: Self.day))
        return ((days + 3) % 7 + 7) % 7 + 1
    }
}

extension Int128 {
    /// Returns the quotient rounded down. `divisor` must be positive.
    fileprivate func dividedDown(by divisor: Int128) -> Int128 {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? quotient - 1 : quotient
    }
}
