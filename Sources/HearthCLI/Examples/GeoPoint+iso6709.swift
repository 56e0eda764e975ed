import DocumentModel
import UTF8Text

extension GeoPoint {
    /// Parses ISO 6709 coordinates in degrees, minutes and seconds: `±DDMM±DDDMM` or `±DDMMSS±DDDMMSS`.
    ///
    /// - Throws: `.invalidArgument` if the text has another form or the coordinates are out of range.
    init(iso6709 text: some BidirectionalCollection<UInt8>) throws(StatusError) {
        let bytes = Array(text)
        guard let second = bytes.dropFirst().firstIndex(where: { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }),
            let latitude = Self.degrees(bytes[..<second], wholeDigits: 2),
            let longitude = Self.degrees(bytes[second...], wholeDigits: 3),
            bytes.count - second == second + 1
        else {
            let found = Excerpt(String(decoding: bytes, as: UTF8.self))
            throw StatusError(.invalidArgument, "Expected coordinates such as +5230+01322 or +404251-0740023, found \(found).")
        }
        try self.init(validatingLatitude: latitude, longitude: longitude)
    }

    /// Parses a sign, `wholeDigits` digits of degrees, two of minutes, and optionally two of seconds.
    private static func degrees(_ bytes: ArraySlice<UInt8>, wholeDigits: Int) -> Double? {
        var digits = bytes.dropFirst()
        guard digits.count == wholeDigits + 2 || digits.count == wholeDigits + 4, digits.allSatisfy(\.isDigit) else { return nil }
        func next(_ count: Int) -> Double {
            defer { digits = digits.dropFirst(count) }
            return digits.prefix(count).reduce(0) { $0 * 10 + Double($1 - UInt8(ascii: "0")) }
        }
        let (whole, minutes, seconds) = (next(wholeDigits), next(2), next(2))
        guard minutes < 60, seconds < 60 else { return nil }
        // A single division, so that the result is rounded once.
        let degrees = (whole * 3_600 + minutes * 60 + seconds) / 3_600
        return bytes.first == UInt8(ascii: "-") ? -degrees : degrees
    }
}

extension UInt8 {
    /// True if the byte is an ASCII digit.
    var isDigit: Bool { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(self) }
}
