/// A date in the proleptic Gregorian calendar (year 0 precedes year 1).
package struct CivilDate: Hashable, Sendable {
    /// The year.
    package var year: Int
    /// The month, 1 to 12.
    package var month: Int
    /// The day of the month, 1 to 31.
    package var day: Int

    /// Creates a date from numbers in range.
    package init(year: Int, month: Int, day: Int) {
        self.year = year
        self.month = month
        self.day = day
    }
}

extension CivilDate {
    /// Returns the number of days in a month.
    package static func days(inMonth month: Int, ofYear year: Int) -> Int {
        switch month {
        case 2: isLeap(year) ? 29 : 28
        case 4, 6, 9, 11: 30
        default: 31
        }
    }

    private static func isLeap(_ year: Int) -> Bool {
        year.isMultiple(of: 4) && (!year.isMultiple(of: 100) || year.isMultiple(of: 400))
    }
}

// The calendar repeats every 400 years (146,097 days). With years that start in March the leap day comes last, and the
// number of days before a month is (153 * month + 2) / 5, with March as month 0. Day 0 is 1970-01-01, which is day 719,468
// from 0000-03-01.
extension CivilDate {
    private static let daysPerCycle = 146_097
    private static let daysBefore1970 = 719_468

    /// The number of days since 1970-01-01; negative before it.
    package var daysSince1970: Int {
        let marchYear = month > 2 ? year : year - 1
        let (cycle, yearOfCycle) = marchYear.dividedRoundingDown(by: 400)
        let dayOfYear = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1
        let dayOfCycle = yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100 + dayOfYear
        return cycle * Self.daysPerCycle + dayOfCycle - Self.daysBefore1970
    }

    /// Creates the date a number of days after 1970-01-01.
    package init(daysSince1970 days: Int) {
        let (cycle, dayOfCycle) = (days + Self.daysBefore1970).dividedRoundingDown(by: Self.daysPerCycle)
        let yearOfCycle = (dayOfCycle - dayOfCycle / 1_460 + dayOfCycle / 36_524 - dayOfCycle / 146_096) / 365
        let dayOfYear = dayOfCycle - (yearOfCycle * 365 + yearOfCycle / 4 - yearOfCycle / 100)
        let marchMonth = (5 * dayOfYear + 2) / 153
        day = dayOfYear - (153 * marchMonth + 2) / 5 + 1
        month = marchMonth < 10 ? marchMonth + 3 : marchMonth - 9
        year = cycle * 400 + yearOfCycle + (month > 2 ? 0 : 1)
    }
}

extension CivilDate {
    /// The number of the day in its year, from 1.
    package var dayOfYear: Int { daysSince1970 - CivilDate(year: year, month: 1, day: 1).daysSince1970 + 1 }
}

extension BinaryInteger {
    /// Returns the quotient rounded down and the non-negative remainder. `divisor` must be positive.
    func dividedRoundingDown(by divisor: Self) -> (quotient: Self, remainder: Self) {
        let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
        return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
    }
}
