internal import UTF8Text

extension Timestamp {
    /// Parses a time in RFC 3339 format: `2014-09-09T08:00:47.5+02:00`.
    ///
    /// Accepts any offset and up to nine fractional digits, and truncates to microseconds, toward the past. `T` and `Z` may
    /// be lowercase. Leap seconds (`:60`) are rejected.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for any other format, an invalid date or time of day, or a time outside the
    ///   years 1 to 9999 in UTC.
    public init(rfc3339 text: String) throws(StatusError) {
        self = try Self.parse(text).time
    }

    /// Parses a time in RFC 3339 format without loss of precision, such as one that the server returned.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a precision finer than a microsecond, and for the same reasons as
    ///   ``init(rfc3339:)``.
    package init(exactRFC3339 text: String) throws(StatusError) {
        let (time, hasSubmicroseconds) = try Self.parse(text)
        guard !hasSubmicroseconds else {
            throw StatusError(
                .invalidArgument,
                "Expected a time in whole microseconds, as the server returns them, found \(Excerpt(text))."
            )
        }
        self = time
    }

    private static func parse(_ text: String) throws(StatusError) -> (time: Timestamp, hasSubmicroseconds: Bool) {
        guard let components = UTF8Key(text).withBytes(TimeComponents.init) else {
            throw StatusError(
                .invalidArgument,
                "Expected a time in RFC 3339 format with an offset and at most nine fractional digits, "
                    + "such as 2014-09-09T08:00:47.5Z, found \(Excerpt(text))."
            )
        }
        if let rangeError = components.rangeError {
            throw StatusError(.invalidArgument, "The time \(Excerpt(text)) is invalid: \(rangeError).")
        }
        let microseconds = components.microsecondsSince1970
        guard (minimum.microseconds...maximum.microseconds).contains(microseconds) else {
            throw StatusError(
                .invalidArgument,
                "Expected a time from \(minimum) to \(maximum), found \(Excerpt(text))."
            )
        }
        return (Timestamp(unchecked: microseconds), components.hasSubmicroseconds)
    }

    /// The time in RFC 3339 format in UTC, always with six fractional digits: `2014-09-09T08:00:47.500000Z`.
    public var rfc3339: String {
        let (days, timeOfDay) = microseconds.dividedRoundingDown(by: 86_400_000_000)
        let date = CivilDate(daysSince1970: Int(days))
        let (second, fraction) = Int(timeOfDay).quotientAndRemainder(dividingBy: 1_000_000)
        return String(unsafeUninitializedCapacity: 27) { buffer in
            var length = 0
            func append(_ number: Int, digits: Int, then separator: Unicode.Scalar) {
                var rest = number
                for index in (length..<length + digits).reversed() {
                    buffer[index] = UInt8(ascii: "0") + UInt8(rest % 10)
                    rest /= 10
                }
                buffer[length + digits] = UInt8(ascii: separator)
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

/// The parsed components of a time.
private struct TimeComponents {
    let date: CivilDate
    let hour: Int
    let minute: Int
    let second: Int
    let microsecond: Int
    let hasSubmicroseconds: Bool
    let offsetSign: Int
    let offsetHour: Int
    let offsetMinute: Int

    /// Creates the components of a text, or `nil` if the format is invalid.
    init?(_ text: UnsafeBufferPointer<UInt8>) {
        var scanner = DigitScanner(bytes: text)
        guard
            let year = scanner.number(digits: 4), scanner.skip("-"),
            let month = scanner.number(digits: 2), scanner.skip("-"),
            let day = scanner.number(digits: 2), scanner.skip("T") || scanner.skip("t"),
            let hour = scanner.number(digits: 2), scanner.skip(":"),
            let minute = scanner.number(digits: 2), scanner.skip(":"),
            let second = scanner.number(digits: 2),
            let (microsecond, hasSubmicroseconds) = scanner.skip(".") ? scanner.microseconds() : (0, false)
        else { return nil }
        date = CivilDate(year: year, month: month, day: day)
        self.hour = hour
        self.minute = minute
        self.second = second
        self.microsecond = microsecond
        self.hasSubmicroseconds = hasSubmicroseconds
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

    /// The component that is out of range, in words; `nil` if the time is valid.
    var rangeError: String? {
        let daysInMonth = CivilDate.days(inMonth: date.month, ofYear: date.year)
        if !(1...12).contains(date.month) { return "the month must be 01 to 12" }
        if !(1...daysInMonth).contains(date.day) { return "the day must be 01 to \(daysInMonth) in that month" }
        if hour > 23 { return "the hour must be 00 to 23" }
        if minute > 59 { return "the minute must be 00 to 59" }
        if second == 60 { return "leap seconds are not supported; use second 59, or 00 of the next minute" }
        if second > 60 { return "the second must be 00 to 59" }
        if offsetHour > 23 || offsetMinute > 59 { return "the offset must be -23:59 to +23:59" }
        return nil
    }

    var microsecondsSince1970: Int64 {
        let minutes = hour * 60 + minute - offsetSign * (offsetHour * 60 + offsetMinute)
        let seconds = Int64(date.daysSince1970) * 86_400 + Int64(minutes * 60 + second)
        return seconds * 1_000_000 + Int64(microsecond)
    }
}

private struct DigitScanner {
    let bytes: UnsafeBufferPointer<UInt8>
    private var position = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    var isAtEnd: Bool { position == bytes.count }

    mutating func skip(_ separator: Unicode.Scalar) -> Bool {
        guard position < bytes.count, bytes[position] == UInt8(ascii: separator) else { return false }
        position += 1
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

    /// Scans one to nine fractional digits. Digits beyond the sixth only set `hasSubmicroseconds`.
    mutating func microseconds() -> (number: Int, hasSubmicroseconds: Bool)? {
        guard var number = digit() else { return nil }
        var count = 1
        var hasSubmicroseconds = false
        while let digit = digit() {
            count += 1
            if count <= 6 { number = number * 10 + digit } else if digit != 0 { hasSubmicroseconds = true }
            if count > 9 { return nil }
        }
        for _ in count..<max(count, 6) { number *= 10 }
        return (number, hasSubmicroseconds)
    }

    private mutating func digit() -> Int? {
        guard position < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[position]) else { return nil }
        position += 1
        return Int(bytes[position - 1] - UInt8(ascii: "0"))
    }
}
