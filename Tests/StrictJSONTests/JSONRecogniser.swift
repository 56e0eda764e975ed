/// RFC 8259 with Hearth's refusals, written a second time and as plainly as possible: recursive,
/// on an array, strings through UTF-16 and the standard library's UTF-8 validation.
struct JSONRecogniser {
    private struct Refused: Error {}

    private let text: [UInt8]
    private var position = 0

    /// The value of a text, or nil when it isn't acceptable.
    static func value(of text: [UInt8]) -> JSONSample? {
        var recogniser = JSONRecogniser(text: text)
        return try? recogniser.document()
    }

    private init(text: [UInt8]) {
        self.text = text
    }

    private mutating func document() throws -> JSONSample {
        space()
        let value = try value(depth: 0)
        space()
        guard position == text.count else { throw Refused() }
        return value
    }

    private mutating func value(depth: Int) throws -> JSONSample {
        switch peek {
        case "{":
            guard depth < 64 else { throw Refused() }
            return try object(depth: depth)
        case "[":
            guard depth < 64 else { throw Refused() }
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
        space()
        if peek != "}" {
            repeat {
                space()
                let key = try string()
                guard !members.contains(where: { $0.key == key }) else { throw Refused() }
                space()
                try expect(":")
                space()
                members.append(JSONSample.Member(key: key, value: try value(depth: depth + 1)))
                space()
            } while take(",")
        }
        try expect("}")
        return .object(members)
    }

    private mutating func array(depth: Int) throws -> JSONSample {
        var elements: [JSONSample] = []
        try expect("[")
        space()
        if peek != "]" {
            repeat {
                space()
                elements.append(try value(depth: depth + 1))
                space()
            } while take(",")
        }
        try expect("]")
        return .array(elements)
    }

    private mutating func number() throws -> JSONSample {
        let start = position
        var isInteger = true
        _ = take("-")
        if !take("0") { try digits() }
        if take(".") {
            isInteger = false
            try digits()
        }
        if take("e") || take("E") {
            isInteger = false
            if !take("+") { _ = take("-") }
            try digits()
        }
        let literal = String(decoding: text[start..<position], as: UTF8.self)
        if isInteger { return Int64(literal).map { .integer($0) } ?? .outOfRange }
        guard let value = Double(literal), value.isFinite else { return .outOfRange }
        return .double(value.bitPattern)
    }

    private mutating func digits() throws {
        guard let first = peek, ("0"..."9").contains(first) else { throw Refused() }
        while let digit = peek, ("0"..."9").contains(digit) { position += 1 }
    }

    private mutating func string() throws -> [UInt8] {
        try expect("\"")
        var units: [UInt16] = []
        while let scalar = peek, scalar != "\"" {
            guard scalar >= " " else { throw Refused() }
            if take("\\") {
                units.append(try escape())
            } else {
                let start = position
                repeat { position += 1 } while position < text.count && text[position] & 0xc0 == 0x80
                guard let plain = String(validating: text[start..<position], as: UTF8.self) else { throw Refused() }
                units += plain.utf16
            }
        }
        try expect("\"")
        guard let unescaped = String(validating: units, as: UTF16.self) else { throw Refused() }
        return Array(unescaped.utf8)
    }

    private mutating func escape() throws -> UInt16 {
        guard let letter = peek else { throw Refused() }
        position += 1
        switch letter {
        case "\"", "\\", "/": return UInt16(letter.value)
        case "b": return 8
        case "f": return 12
        case "n": return 10
        case "r": return 13
        case "t": return 9
        case "u":
            guard text.count - position >= 4 else { throw Refused() }
            let digits = text[position..<position + 4]
            position += 4
            guard digits.allSatisfy({ Character(Unicode.Scalar($0)).isHexDigit }) else { throw Refused() }
            return UInt16(String(decoding: digits, as: UTF8.self), radix: 16) ?? 0
        default: throw Refused()
        }
    }

    private var peek: Unicode.Scalar? { position < text.count ? Unicode.Scalar(text[position]) : nil }

    private mutating func take(_ scalar: Unicode.Scalar) -> Bool {
        guard peek == scalar else { return false }
        position += 1
        return true
    }

    private mutating func expect(_ literal: String) throws {
        for scalar in literal.unicodeScalars where !take(scalar) { throw Refused() }
    }

    private mutating func space() {
        while take(" ") || take("\t") || take("\n") || take("\r") {}
    }
}
