/// A second, deliberately simple implementation of the same grammar, for comparison: recursive descent over an array,
/// with strings validated by the standard library.
struct ReferenceJSONParser {
    private struct InvalidText: Error {}

    private let text: [UInt8]
    private var position = 0

    /// Returns the value of a text, or `nil` if the text is invalid.
    static func value(of text: [UInt8]) -> JSONSample? {
        var parser = ReferenceJSONParser(text: text)
        return try? parser.document()
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func document() throws -> JSONSample {
        skipWhitespace()
        let value = try value(depth: 0)
        skipWhitespace()
        guard position == text.count else { throw InvalidText() }
        return value
    }

    private mutating func value(depth: Int) throws -> JSONSample {
        switch peek {
        case "{":
            guard depth < 64 else { throw InvalidText() }
            return try object(depth: depth)
        case "[":
            guard depth < 64 else { throw InvalidText() }
            return try array(depth: depth)
        case "\"": return .string(try string())
        case "t":
            try expect("true")
            return .boolean(true)
        case "f":
            try expect("false")
            return .boolean(false)
        case "n":
            try expect("null")
            return .null
        default: return try number()
        }
    }

    private mutating func object(depth: Int) throws -> JSONSample {
        var members: [JSONSample.Member] = []
        try expect("{")
        skipWhitespace()
        if peek != "}" {
            repeat {
                skipWhitespace()
                let key = try string()
                guard !members.contains(where: { $0.key == key }) else { throw InvalidText() }
                skipWhitespace()
                try expect(":")
                skipWhitespace()
                members.append(JSONSample.Member(key: key, value: try value(depth: depth + 1)))
                skipWhitespace()
            } while consume(",")
        }
        try expect("}")
        return .object(members)
    }

    private mutating func array(depth: Int) throws -> JSONSample {
        var elements: [JSONSample] = []
        try expect("[")
        skipWhitespace()
        if peek != "]" {
            repeat {
                skipWhitespace()
                elements.append(try value(depth: depth + 1))
                skipWhitespace()
            } while consume(",")
        }
        try expect("]")
        return .array(elements)
    }

    private mutating func number() throws -> JSONSample {
        let start = position
        var isInteger = true
        _ = consume("-")
        if !consume("0") { try digits() }
        if consume(".") {
            isInteger = false
            try digits()
        }
        if consume("e") || consume("E") {
            isInteger = false
            if !consume("+") { _ = consume("-") }
            try digits()
        }
        let literal = String(decoding: text[start..<position], as: UTF8.self)
        if isInteger { return Int64(literal).map { .integer($0) } ?? .outOfRange }
        guard let value = Double(literal), value.isFinite else { return .outOfRange }
        return .double(value.bitPattern)
    }

    private mutating func digits() throws {
        guard let first = peek, ("0"..."9").contains(first) else { throw InvalidText() }
        while let digit = peek, ("0"..."9").contains(digit) { position += 1 }
    }

    private mutating func string() throws -> [UInt8] {
        try expect("\"")
        var units: [UInt16] = []
        while let scalar = peek, scalar != "\"" {
            guard scalar >= " " else { throw InvalidText() }
            if consume("\\") {
                units.append(try escape())
            } else {
                let start = position
                repeat { position += 1 } while position < text.count && text[position] & 0xc0 == 0x80
                guard let plain = String(validating: text[start..<position], as: UTF8.self) else { throw InvalidText() }
                units += plain.utf16
            }
        }
        try expect("\"")
        guard let unescaped = String(validating: units, as: UTF16.self) else { throw InvalidText() }
        return Array(unescaped.utf8)
    }

    private mutating func escape() throws -> UInt16 {
        guard let letter = peek else { throw InvalidText() }
        position += 1
        switch letter {
        case "\"", "\\", "/": return UInt16(letter.value)
        case "b": return 8
        case "f": return 12
        case "n": return 10
        case "r": return 13
        case "t": return 9
        case "u":
            guard text.count - position >= 4 else { throw InvalidText() }
            let digits = text[position..<position + 4]
            position += 4
            guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { throw InvalidText() }
            return UInt16(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
        default: throw InvalidText()
        }
    }

    private var peek: Unicode.Scalar? { position < text.count ? Unicode.Scalar(text[position]) : nil }

    private mutating func consume(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ literal: String) throws {
        for scalar in literal.unicodeScalars where !consume(scalar) { throw InvalidText() }
    }

    private mutating func skipWhitespace() {
        while consume(" ") || consume("\t") || consume("\n") || consume("\r") {}
    }
}
