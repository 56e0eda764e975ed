extension Timestamp {
    /// Reads a time in RFC 3339 form: `2014-09-09T08:00:47.5+02:00`.
    ///
    /// Any offset and up to nine digits of a second are taken; what is finer than a microsecond is cut off, towards the
    /// past. `T` and `Z` may be small letters. A leap second (`:60`) is refused rather than moved to another second.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for another form, a date or time of day that does not exist, or a moment
    ///   that is outside the years 1 to 9999 in UTC.
    public init(rfc3339 text: String) throws(StatusError) {
        self = try Self.read(text).time
    }

    /// Reads a time that has to be one that Hearth gave: in RFC 3339 form, and not finer than a microsecond.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a finer time, and as ``init(rfc3339:)`` does.
    package init(alignedRFC3339 text: String) throws(StatusError) {
        let (time, isFiner) = try Self.read(text)
        guard !isFiner else {
            throw StatusError(
                .invalidArgument,
                "Expected a time in whole microseconds, as Hearth gives them, found \(Excerpt(text))."
            )
        }
        self = time
    }

    private static func read(_ text: String) throws(StatusError) -> (time: Timestamp, isFiner: Bool) {
        guard let parts = TimeParts(text) else {
            throw StatusError(
                .invalidArgument,
                "Expected a time in RFC 3339 form with an offset and at most nine digits after the second, "
                    + "such as 2014-09-09T08:00:47.5Z, found \(Excerpt(text))."
            )
        }
        if let fault = parts.fault {
            throw StatusError(.invalidArgument, "The time \(Excerpt(text)) does not exist: \(fault).")
        }
        let microseconds = parts.microsecondsSince1970
        guard (minimum.microseconds...maximum.microseconds).contains(microseconds) else {
            throw StatusError(
                .invalidArgument,
                "Expected a time from \(minimum) to \(maximum), found \(Excerpt(text))."
            )
        }
        return (Timestamp(unchecked: microseconds), parts.isFiner)
    }

    /// The time in RFC 3339 form in UTC, always with six digits after the second: `2014-09-09T08:00:47.500000Z`.
    public var rfc3339: String {
        let (days, timeOfDay) = microseconds.dividedRoundingDown(by: 86_400_000_000)
        let date = CivilDate(daysSince1970: Int(days))
        let (second, fraction) = Int(timeOfDay).quotientAndRemainder(dividingBy: 1_000_000)
        return String(unsafeUninitializedCapacity: 27) { buffer in
            var length = 0
            func append(_ number: Int, digits: Int, then mark: Unicode.Scalar) {
                var rest = number
                for place in (length..<length + digits).reversed() {
                    buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                buffer[length + digits] = UInt8(ascii: mark)
                length += digits + 1
            }
            append(date.year, digits: 4, then: "-")
            append(date.month, digits: 2, then: "-")
            append(date.day, digits: 2, then: "T")
            append(second / 3_600, digits: 2, then: ":")
            append(second / 60 % 60, digits: 2, then: ":")
            append(second % 60, digits: 2, then: ".")
            append(fraction, digits: 6, then: "Z")
            return length
        }
    }
}

/// The numbers of a time as it was written.
private struct TimeParts {
    let date: CivilDate
    let hour: Int
    let minute: Int
    let second: Int
    let microsecond: Int
    let isFiner: Bool
    let offsetSign: Int
    let offsetHour: Int
    let offsetMinute: Int

    /// Nil when the text has another form.
    init?(_ text: String) {
        var scanner = DigitScanner(bytes: text.utf8[...])
        guard
            let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"),
            let day = scanner.number(digits: 2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), scanner.skip(":"),
            let minute = scanner.number(digits: 2), scanner.skip(":"),
            let second = scanner.number(digits: 2),
            let (microsecond, isFiner) = scanner.skip(".") ? scanner.microseconds() : (0, false)
        else { return nil }
        date = CivilDate(year: year, month: month, day: day)
        self.hour = hour
        self.minute = minute
        self.second = second
        self.microsecond = microsecond
        self.isFiner = isFiner
        if scanner.skip("Z") || scanner.skip("z") {
            offsetSign = 1
            offsetHour = 0
            offsetMinute = 0
        } else {
            guard let sign = scanner.skip("+") ? 1 : scanner.skip("-") ? -1 : nil,
                let hour = scanner.number(digits: 2), scanner.skip(":"),
                let minute = scanner.number(digits: 2)
            else { return nil }
            offsetSign = sign
            offsetHour = hour
            offsetMinute = minute
        }
        guard scanner.isAtEnd else { return nil }
    }

    /// What does not exist in any calendar or on any clock.
    var fault: String? {
        let daysOfMonth = CivilDate.days(inMonth: date.month, ofYear: date.year)
        if !(1...12).contains(date.month) { return "months go from 01 to 12" }
        if !(1...daysOfMonth).contains(date.day) { return "the days of that month go from 01 to \(daysOfMonth)" }
        if hour > 23 { return "hours go from 00 to 23" }
        if minute > 59 { return "minutes go from 00 to 59" }
        if second == 60 { return "leap seconds are not kept; send second 59, or 00 of the next minute" }
        if second > 60 { return "seconds go from 00 to 59" }
        if offsetHour > 23 || offsetMinute > 59 { return "offsets go from -23:59 to +23:59" }
        return nil
    }

    var microsecondsSince1970: Int64 {
        let minutes = hour * 60 + minute - offsetSign * (offsetHour * 60 + offsetMinute)
        let seconds = Int64(date.daysSince1970) * 86_400 + Int64(minutes * 60 + second)
        return seconds * 1_000_000 + Int64(microsecond)
    }
}

private struct DigitScanner {
    var bytes: Substring.UTF8View

    var isAtEnd: Bool { bytes.isEmpty }

    mutating func skip(_ mark: Unicode.Scalar) -> Bool {
        guard bytes.first == UInt8(ascii: mark) else { return false }
        bytes.removeFirst()
        return true
    }

    mutating func number(digits: Int) -> Int? {
        var number = 0
        for _ in 0..<digits {
            guard let digit = digit() else { return nil }
            number = number * 10 + digit
        }
        return number
    }

    /// One to nine digits after the point; those beyond the sixth only say whether the time was finer.
    mutating func microseconds() -> (number: Int, isFiner: Bool)? {
        guard var number = digit() else { return nil }
        var count = 1
        var isFiner = false
        while let digit = digit() {
            count += 1
            if count <= 6 { number = number * 10 + digit } else if digit != 0 { isFiner = true }
            if count > 9 { return nil }
        }
        for _ in count..<max(count, 6) { number *= 10 }
        return (number, isFiner)
    }

    private mutating func digit() -> Int? {
        guard let byte = bytes.first, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
        bytes.removeFirst()
        return Int(byte - UInt8(ascii: "0"))
    }
}
