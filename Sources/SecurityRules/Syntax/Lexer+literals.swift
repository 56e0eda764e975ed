internal import UTF8Text

extension Lexer {
    /// Scans a number: decimal digits, or digits with a fraction.
    mutating func number() -> Token.Kind {
        let start = offset
        while peek().isDigit { offset += 1 }
        var isFloat = false
        if peek() == UInt8(ascii: "."), peek(1).isDigit {
            isFloat = true
            offset += 1
            while peek().isDigit { offset += 1 }
        }
        if peek() | 0x20 == UInt8(ascii: "e") {
            let signLength = peek(1) == UInt8(ascii: "+") || peek(1) == UInt8(ascii: "-") ? 1 : 0
            if peek(1 + signLength).isDigit {
                isFloat = true
                offset += 1 + signLength
                while peek().isDigit { offset += 1 }
            }
        }
        let text = String(decoding: bytes[start..<offset], as: UTF8.self)
        if peek().isIdentifierStart {
            return .invalid("Unexpected \(Excerpt(text + identifier()).quotedSingly).")
        }
        if isFloat {
            guard let number = Double(text), number.isFinite, number != 0 || !text.hasSignificantDigit else {
                return .invalid("The float \(Excerpt(text).text) is out of range.")
            }
            return .float(number)
        }
        guard let magnitude = UInt64(text), magnitude <= 1 << 63 else {
            return .invalid("The integer \(Excerpt(text).text) does not fit in 64 bits.")
        }
        return .integer(magnitude)
    }

    /// Scans a string in single or double quotes.
    mutating func string() -> Token.Kind {
        quoted(kind: "string") { (lexer: inout Lexer, result: inout [UInt8]) in
            switch lexer.peek(1) {
            case UInt8(ascii: "n"): result.append(0x0a)
            case UInt8(ascii: "r"): result.append(0x0d)
            case UInt8(ascii: "t"): result.append(0x09)
            case let byte where "\\'\"/".utf8.contains(byte): result.append(byte)
            default: return false
            }
            lexer.offset += 2
            return true
        } makeToken: { bytes in
            // The source is valid UTF-8 and escapes are ASCII, so nothing is repaired.
            .string(UTF8Key(String(decoding: bytes, as: UTF8.self)))
        }
    }

    /// Scans the quoted part of a bytes literal: UTF-8 text, `\xHH`, `\OOO` and the escapes of strings.
    mutating func byteString() -> Token.Kind {
        quoted(kind: "bytes literal") { (lexer: inout Lexer, result: inout [UInt8]) in
            switch lexer.peek(1) {
            case UInt8(ascii: "n"): result.append(0x0a)
            case UInt8(ascii: "r"): result.append(0x0d)
            case UInt8(ascii: "t"): result.append(0x09)
            case let byte where "\\'\"/".utf8.contains(byte): result.append(byte)
            case UInt8(ascii: "x"), UInt8(ascii: "X"):
                guard let high = Hexadecimal.value(of: lexer.peek(2)), let low = Hexadecimal.value(of: lexer.peek(3)) else {
                    return false
                }
                result.append(high << 4 | low)
                lexer.offset += 2
            case UInt8(ascii: "0")...UInt8(ascii: "3"):
                let digits = (1...3).map { lexer.peek($0) &- UInt8(ascii: "0") }
                guard digits.allSatisfy({ $0 < 8 }) else { return false }
                result.append(digits[0] << 6 | digits[1] << 3 | digits[2])
                lexer.offset += 2
            default: return false
            }
            lexer.offset += 2
            return true
        } makeToken: {
            .bytes($0)
        }
    }

    /// Scans quoted text.
    ///
    /// - Parameter unescape: Appends the meaning of the escape at the offset and skips it, or returns false if it is invalid.
    private mutating func quoted(
        kind: String,
        unescape: (inout Lexer, inout [UInt8]) -> Bool,
        makeToken: ([UInt8]) -> Token.Kind
    ) -> Token.Kind {
        let quote = peek()
        offset += 1
        var result: [UInt8] = []
        var message: String?
        while peek() != quote {
            guard offset < bytes.count, peek() != UInt8(ascii: "\n") else {
                return .invalid("The \(kind) is not closed. Add \(quote == UInt8(ascii: "'") ? "'" : "\"").")
            }
            if peek() != UInt8(ascii: "\\") {
                result.append(peek())
                offset += 1
            } else if !unescape(&self, &result) {
                let escape = String(decoding: bytes[offset..<min(offset + 2, bytes.count)], as: UTF8.self)
                if message == nil {
                    message =
                        "Invalid escape sequence \(escape) in a \(kind). Write \\\\ for a backslash, as in '\\\\.' or '[.]' "
                        + "for a dot in a regular expression."
                }
                // A backslash before a quote is valid, so the next byte does not end the literal, unless it is a line break.
                offset += 1
            }
        }
        offset += 1
        return message.map(Token.Kind.invalid) ?? makeToken(result)
    }
}

extension String {
    /// True if a digit before the exponent is not zero.
    fileprivate var hasSignificantDigit: Bool {
        utf8.prefix { $0 | 0x20 != UInt8(ascii: "e") }.contains { $0.isDigit && $0 != UInt8(ascii: "0") }
    }
}
