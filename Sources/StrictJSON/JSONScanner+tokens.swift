extension JSONScanner {
    /// Scans the string or key whose opening quote is at `start`, and returns where it ends.
    mutating func scanString(at start: Int) throws(Failure) -> Int {
        var kind = JSONTapeEntry.Kind.string
        var position = start + 1
        while true {
            position = text.endOfPlainASCII(from: position)
            guard position < text.count else { throw unexpectedEnd(ofStringAt: start) }
            switch text[position] {
            case UInt8(ascii: "\""):
                return append(kind, from: start, to: position + 1)
            case UInt8(ascii: "\\"):
                kind = .escapedString
                position = try endOfEscape(at: position, inStringAt: start)
            case 0x80...:
                repeat {
                    position = try endOfScalar(at: position)
                } while byte(at: position) >= 0x80
            case let control:
                throw Failure(.controlCharacter(control), at: position)
            }
        }
    }

    /// Validates the escape whose backslash is at `start`, a surrogate pair being one, and returns where it ends.
    private func endOfEscape(at start: Int, inStringAt string: Int) throws(Failure) -> Int {
        guard start + 1 < text.count else { throw unexpectedEnd(ofStringAt: string) }
        switch text[start + 1] {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"), UInt8(ascii: "b"), UInt8(ascii: "f"),
            UInt8(ascii: "n"), UInt8(ascii: "r"), UInt8(ascii: "t"):
            return start + 2
        case UInt8(ascii: "u"):
            let unit = try codeUnit(ofEscapeAt: start, inStringAt: string)
            guard unit & 0xf800 == 0xd800 else { return start + 6 }
            let second = start + 6
            guard unit & 0xfc00 == 0xd800 else { throw Failure(.loneSurrogate, at: start) }
            guard second < text.count else { throw unexpectedEnd(ofStringAt: string) }
            guard text[second] == UInt8(ascii: "\\") else { throw Failure(.loneSurrogate, at: start) }
            guard second + 1 < text.count else { throw unexpectedEnd(ofStringAt: string) }
            guard text[second + 1] == UInt8(ascii: "u") else { throw Failure(.loneSurrogate, at: start) }
            guard try codeUnit(ofEscapeAt: second, inStringAt: string) & 0xfc00 == 0xdc00 else {
                throw Failure(.loneSurrogate, at: start)
            }
            return second + 6
        default:
            throw Failure(.invalidEscape, at: start)
        }
    }

    /// The four hexadecimal digits after the backslash at `start` and its `u`.
    private func codeUnit(ofEscapeAt start: Int, inStringAt string: Int) throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for position in start + 2..<start + 6 {
            guard position < text.count else { throw unexpectedEnd(ofStringAt: string) }
            guard let digit = text[position].hexadecimalValue else { throw Failure(.invalidEscape, at: start) }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Validates the UTF-8 sequence of a scalar above U+007F at `start` (Unicode, table 3-7), and returns where it ends.
    @inline(__always)
    private func endOfScalar(at start: Int) throws(Failure) -> Int {
        let lead = text[start]
        var second: ClosedRange<UInt8> = 0x80...0xbf
        let length: Int
        switch lead {
        case 0xc2...0xdf: length = 2
        case 0xe0...0xef:
            length = 3
            if lead == 0xe0 { second = 0xa0...0xbf }
            if lead == 0xed { second = 0x80...0x9f }
        case 0xf0...0xf4:
            length = 4
            if lead == 0xf0 { second = 0x90...0xbf }
            if lead == 0xf4 { second = 0x80...0x8f }
        default: throw Failure(.invalidUTF8, at: start)
        }
        guard second.contains(byte(at: start + 1)),
            length < 3 || byte(at: start + 2) & 0xc0 == 0x80,
            length < 4 || byte(at: start + 3) & 0xc0 == 0x80
        else { throw Failure(.invalidUTF8, at: start) }
        return start + length
    }

    /// Scans the number at `start`, and returns where it ends.
    mutating func scanNumber(at start: Int) throws(Failure) -> Int {
        var kind = JSONTapeEntry.Kind.integer
        var position = start
        if text[position] == UInt8(ascii: "-") { position += 1 }
        if byte(at: position) == UInt8(ascii: "0") {
            position += 1
            if byte(at: position).isDigit { throw Failure(.leadingZero, at: position) }
        } else {
            position = try endOfDigits(at: position)
        }
        if byte(at: position) == UInt8(ascii: ".") {
            kind = .double
            position = try endOfDigits(at: position + 1)
        }
        if byte(at: position) | 0x20 == UInt8(ascii: "e") {
            kind = .double
            position += 1
            if byte(at: position) == UInt8(ascii: "+") || byte(at: position) == UInt8(ascii: "-") { position += 1 }
            position = try endOfDigits(at: position)
        }
        return append(kind, from: start, to: position)
    }

    /// Where one or more digits end.
    @inline(__always)
    private func endOfDigits(at start: Int) throws(Failure) -> Int {
        guard byte(at: start).isDigit else { throw unexpectedByte(at: start, expected: .digit) }
        var position = start + 1
        while byte(at: position).isDigit { position += 1 }
        return position
    }

    /// Scans `true`, `false` or `null`, and returns where it ends.
    mutating func scanLiteral(_ literal: StaticString, _ kind: JSONTapeEntry.Kind, at start: Int) throws(Failure) -> Int {
        for index in 1..<literal.utf8CodeUnitCount where byte(at: start + index) != literal.utf8Start[index] {
            throw unexpectedByte(at: start + index, expected: .literal)
        }
        return append(kind, from: start, to: start + literal.utf8CodeUnitCount)
    }
}

extension UInt8 {
    @inline(__always)
    fileprivate var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
