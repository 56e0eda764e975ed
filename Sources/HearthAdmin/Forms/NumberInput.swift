import UTF8Text

/// Parses numbers in form fields, byte by byte: Swift's own parsers accept more than decimal numbers.
enum NumberInput {
    /// Parses a 64-bit integer.
    static func integer(_ text: String) -> Int64? {
        let digits = digits(of: text)
        let magnitude = digits.first == UInt8(ascii: "-") ? digits.dropFirst() : digits[...]
        guard !magnitude.isEmpty, magnitude.allSatisfy(isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// Parses a double in any notation that pages show.
    static func double(_ text: String) -> Double? {
        let digits = digits(of: text)
        switch UTF8Key(String(decoding: digits, as: UTF8.self)) {
        case "NaN": return .nan
        case "Infinity": return .infinity
        case "-Infinity": return -.infinity
        default: break
        }
        var rest = digits[...]
        if rest.first == UInt8(ascii: "-") { rest.removeFirst() }
        guard consumeDigits(&rest) else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard consumeDigits(&rest) else { return nil }
        }
        if let exponent = rest.first, exponent == UInt8(ascii: "e") || exponent == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
            guard consumeDigits(&rest) else { return nil }
        }
        guard rest.isEmpty, let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// Returns the trimmed bytes, with a typographic minus sign replaced with a hyphen-minus.
    private static func digits(of text: String) -> [UInt8] {
        let bytes = Array(FormTextCoding.trimmed(text).utf8)
        let minus = Array("−".utf8)
        return bytes.starts(with: minus) ? [UInt8(ascii: "-")] + bytes.dropFirst(minus.count) : bytes
    }

    private static func consumeDigits(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let count = rest.prefix(while: isDigit).count
        rest.removeFirst(count)
        return count > 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
