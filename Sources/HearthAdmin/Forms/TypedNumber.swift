import StrictJSON

/// Numbers as people type them, read byte by byte: Swift's own readers take more than numbers.
enum TypedNumber {
    /// A whole number of 64 bits.
    static func integer(_ text: String) -> Int64? {
        let digits = digits(of: text)
        let magnitude = digits.first == UInt8(ascii: "-") ? digits.dropFirst() : digits[...]
        guard !magnitude.isEmpty, magnitude.allSatisfy(isDigit) else { return nil }
        return Int64(String(decoding: digits, as: UTF8.self))
    }

    /// A double, of which every form is taken that pages show.
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
        guard takeDigits(&rest) else { return nil }
        if rest.first == UInt8(ascii: ".") {
            rest.removeFirst()
            guard takeDigits(&rest) else { return nil }
        }
        if let mark = rest.first, mark == UInt8(ascii: "e") || mark == UInt8(ascii: "E") {
            rest.removeFirst()
            if let sign = rest.first, sign == UInt8(ascii: "-") || sign == UInt8(ascii: "+") { rest.removeFirst() }
            guard takeDigits(&rest) else { return nil }
        }
        guard rest.isEmpty, let value = Double(String(decoding: digits, as: UTF8.self)), value.isFinite else { return nil }
        return value
    }

    /// A text without blanks around it.
    static func trimmed(_ text: String) -> String {
        let isBlank = { (byte: UInt8) in byte <= UInt8(ascii: " ") }
        let bytes = text.utf8.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
        return String(decoding: Array(bytes), as: UTF8.self)
    }

    /// The lines of a text without blanks around them, those left out that have nothing else.
    static func lines(of text: String) -> [String] {
        text.utf8.split(separator: UInt8(ascii: "\n")).map { trimmed(String(Substring($0))) }.filter { !$0.utf8.isEmpty }
    }

    /// The bytes without blanks around them, the minus of typographers as the one of programs.
    private static func digits(of text: String) -> [UInt8] {
        let bytes = Array(trimmed(text).utf8)
        let minus = Array("−".utf8)
        return bytes.starts(with: minus) ? [UInt8(ascii: "-")] + bytes.dropFirst(minus.count) : bytes
    }

    private static func takeDigits(_ rest: inout ArraySlice<UInt8>) -> Bool {
        let count = rest.prefix(while: isDigit).count
        rest.removeFirst(count)
        return count > 0
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
    }
}
