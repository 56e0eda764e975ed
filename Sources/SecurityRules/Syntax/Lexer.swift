internal import UTF8Text

/// A scanner of tokens, which the parser drives: the meaning of a slash depends on the text after it, and segments of paths are
/// scanned by ``pathSegment()``.
struct Lexer: Sendable {
    let bytes: [UInt8]
    /// The offset of the next byte.
    var offset = 0

    init(_ bytes: [UInt8]) {
        self.bytes = bytes
    }

    /// The byte at a distance from ``offset``; NUL after the end.
    func peek(_ distance: Int = 0) -> UInt8 {
        let index = offset + distance
        return index < bytes.count ? bytes[index] : 0
    }

    /// Scans the next token. After the end of the file it returns ``Token/Kind/endOfFile`` again and again.
    mutating func next() -> Token {
        if let unclosed = skipBlanksAndComments() { return unclosed }
        let start = offset
        guard start < bytes.count else { return Token(kind: .endOfFile, range: SourceRange(start, start)) }
        let kind = scan()
        return Token(kind: kind, range: SourceRange(start, offset))
    }

    private mutating func scan() -> Token.Kind {
        switch peek() {
        case UInt8(ascii: "0")...UInt8(ascii: "9"):
            return number()
        case UInt8(ascii: "'"), UInt8(ascii: "\""):
            return string()
        case UInt8(ascii: "b") where peek(1) == UInt8(ascii: "'") || peek(1) == UInt8(ascii: "\""):
            offset += 1
            return byteString()
        case let byte where byte.isIdentifierStart:
            return .word(identifier())
        case UInt8(ascii: "/") where !startsBlank(at: offset + 1):
            offset += 1
            return .pathStart
        default:
            return symbol()
        }
    }

    /// Scans an identifier, which may be empty.
    mutating func identifier() -> String {
        let start = offset
        if peek().isIdentifierStart {
            while peek().isIdentifierPart { offset += 1 }
        }
        return String(decoding: bytes[start..<offset], as: UTF8.self)
    }

    private mutating func symbol() -> Token.Kind {
        if peek(1) != 0, let symbol = Symbol(peek(), peek(1)) {
            offset += 2
            return .symbol(symbol)
        }
        if let symbol = Symbol(peek(), 0) {
            offset += 1
            return .symbol(symbol)
        }
        let start = offset
        repeat { offset += 1 } while peek() & 0b1100_0000 == 0b1000_0000
        return .invalid("Unexpected \(Excerpt(String(decoding: bytes[start..<offset], as: UTF8.self)).quotedSingly).")
    }

    /// Skips blanks and comments, and returns an invalid token for a comment without an end.
    private mutating func skipBlanksAndComments() -> Token? {
        while offset < bytes.count {
            if peek().isBlank {
                offset += 1
            } else if peek() == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "/") {
                while offset < bytes.count, peek() != UInt8(ascii: "\n") { offset += 1 }
            } else if peek() == UInt8(ascii: "/"), peek(1) == UInt8(ascii: "*") {
                let start = offset
                offset += 2
                while offset < bytes.count, !(peek() == UInt8(ascii: "*") && peek(1) == UInt8(ascii: "/")) { offset += 1 }
                guard offset < bytes.count else {
                    return Token(kind: .invalid("The comment is not closed. Add '*/'."), range: SourceRange(start, start + 2))
                }
                offset += 2
            } else {
                return nil
            }
        }
        return nil
    }

    private func startsBlank(at index: Int) -> Bool {
        index >= bytes.count || bytes[index].isBlank
    }
}

extension Lexer {
    /// Scans the name of a path segment, which may be empty: letters, digits, `_`, `-`, `.`, `~`, `@` and all beyond ASCII.
    mutating func pathSegment() -> UTF8Key {
        let start = offset
        while peek().isPathSegmentPart { offset += 1 }
        return UTF8Key(String(decoding: bytes[start..<offset], as: UTF8.self))
    }
}

extension UInt8 {
    var isBlank: Bool { self == 0x20 || (0x09...0x0d).contains(self) }

    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }

    var isIdentifierStart: Bool { self == UInt8(ascii: "_") || (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(self | 0x20) }

    var isIdentifierPart: Bool { isIdentifierStart || isDigit }

    fileprivate var isPathSegmentPart: Bool {
        isIdentifierPart || self >= 0x80 || "-.~@".utf8.contains(self)
    }
}
