/// A day in the proleptic Gregorian calendar, in the years 1 to 9999.
struct CalendarDate: Hashable, Sendable {
    let year: Int
    let month: Int
    let day: Int

    /// Creates a day, or `nil` if there is none with these numbers.
    init?(year: Int64, month: Int64, day: Int64) {
        guard (1...9_999).contains(year), (1...12).contains(month),
            day >= 1, day <= Self.days(inMonth: Int(month), ofYear: Int(year))
        else { return nil }
        (self.year, self.month, self.day) = (Int(year), Int(month), Int(day))
    }

    /// Creates the day a number of days after 1970-01-01, which must be in range.
    init(daysSince1970 days: Int) {
        var year = 1970 + days / 366
        // The estimate is at most 22 years off, and towards 1970.
        if days < 0 { year = 1970 + (days - 365) / 365 }
        while Self.daysBefore(year: year + 1) <= days { year += 1 }
        while Self.daysBefore(year: year) > days { year -= 1 }
        var rest = days - Self.daysBefore(year: year)
        var month = 1
        while rest >= Self.days(inMonth: month, ofYear: year) {
            rest -= Self.days(inMonth: month, ofYear: year)
            month += 1
        }
        (self.year, self.month, day) = (year, month, rest + 1)
    }

    /// The number of days since 1970-01-01.
    var daysSince1970: Int { Self.daysBefore(year: year) + dayOfYear - 1 }

    /// The number of the day in its year, from 1.
    var dayOfYear: Int {
        (1..<month).reduce(day) { $0 + Self.days(inMonth: $1, ofYear: year) }
    }

    /// The number of days from 1970-01-01 to the first day of a year.
    private static func daysBefore(year: Int) -> Int {
        let years = year - 1
        return years * 365 + years / 4 - years / 100 + years / 400 - 719_162
    }

    private static func days(inMonth month: Int, ofYear year: Int) -> Int {
        switch month {
        case 2: year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400)) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }
}
