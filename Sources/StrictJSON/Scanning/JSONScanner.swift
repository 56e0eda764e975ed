import UTF8Text

/// A scanner that validates a JSON text in one pass and builds its tape.
///
/// Uses neither recursion nor a stack: while an array or object is open, its tape entry holds the index of the enclosing
/// one. Noncopyable, so that the tape is never copied implicitly.
struct JSONScanner: ~Copyable {
    /// A syntax error by byte offset, before line and column are computed.
    struct Failure: Error {
        let reason: JSONSyntaxError.Reason
        let offset: Int

        init(_ reason: JSONSyntaxError.Reason, at offset: Int) {
            self.reason = reason
            self.offset = offset
        }
    }

    private let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private(set) var tape: [JSONTapeEntry] = []
    private var duplicates = DuplicateKeyFinder()

    init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
    }

    /// Scans the whole text. Afterward the tape is complete, and its first entry is the root value.
    mutating func scan() throws(Failure) {
        let longest = min(limits.maximumBytes, JSONLimits.maximumTextBytes)
        guard text.count <= longest else { throw Failure(.tooLarge(limit: longest), at: longest) }
        if text.starts(with: [0xef, 0xbb, 0xbf]) { throw Failure(.byteOrderMark, at: 0) }
        // Ordinary documents have a value or key every 12 bytes or so.
        tape.reserveCapacity(text.count / 12 + 4)
        try scanValues()
    }

    private mutating func scanValues() throws(Failure) {
        var container = JSONTapeEntry.none
        var isInObject = false
        var depth = 0
        var position = skipWhitespace(from: 0)

        value: while true {
            // At the start of a value.
            if container != JSONTapeEntry.none { tape[container].incrementCount() }
            switch byte(at: position) {
            case UInt8(ascii: "\""):
                position = try scanString(at: position)
            case UInt8(ascii: "-"), UInt8(ascii: "0")...UInt8(ascii: "9"):
                position = try scanNumber(at: position)
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard depth < limits.maximumDepth else { throw Failure(.tooDeep(limit: limits.maximumDepth), at: position) }
                depth += 1
                isInObject = text[position] == UInt8(ascii: "{")
                tape.append(JSONTapeEntry(isInObject ? .object : .array, start: position, end: position, next: container))
                container = tape.count - 1
                position = skipWhitespace(from: position + 1)
                if byte(at: position) == Self.closingBracket(ofObject: isInObject) { break }
                if isInObject { position = try scanKey(at: position) }
                continue value
            case UInt8(ascii: "t"):
                position = try scanLiteral("true", .true, at: position)
            case UInt8(ascii: "f"):
                position = try scanLiteral("false", .false, at: position)
            case UInt8(ascii: "n"):
                position = try scanLiteral("null", .null, at: position)
            default:
                throw unexpectedByte(at: position, expected: .value)
            }

            // At the end of a value, or before the closing bracket of an empty array or object.
            while true {
                position = skipWhitespace(from: position)
                guard container != JSONTapeEntry.none else {
                    guard position == text.count else { throw Failure(.trailingText, at: position) }
                    return
                }
                let separator = byte(at: position)
                if separator == UInt8(ascii: ",") {
                    position = skipWhitespace(from: position + 1)
                    if isInObject { position = try scanKey(at: position) }
                    continue value
                }
                guard separator == Self.closingBracket(ofObject: isInObject) else {
                    throw unexpectedByte(at: position, expected: isInObject ? .commaOrEndOfObject : .commaOrEndOfArray)
                }
                position += 1
                depth -= 1
                container = try close(container, at: position)
                isInObject = container != JSONTapeEntry.none && tape[container].kind == .object
            }
        }
    }

    /// Completes the entry of an array or object, and returns the index of the enclosing one.
    private mutating func close(_ container: Int, at end: Int) throws(Failure) -> Int {
        let entry = tape[container]
        if entry.kind == .object, entry.count > 1,
            let repeated = duplicates.firstRepeatedKey(ofObjectAt: container, on: tape, in: text)
        {
            let key = JSONStringBody(tape[repeated], in: text).string
            throw Failure(.duplicateKey(UTF8Key(key)), at: Int(tape[repeated].start))
        }
        tape[container].close(end: end, next: tape.count)
        return Int(entry.next)
    }

    /// Scans a key and its colon, and returns the offset of the value.
    @inline(__always)
    private mutating func scanKey(at start: Int) throws(Failure) -> Int {
        guard byte(at: start) == UInt8(ascii: "\"") else { throw unexpectedByte(at: start, expected: .key) }
        let end = try scanString(at: start)
        let position = skipWhitespace(from: end)
        guard byte(at: position) == UInt8(ascii: ":") else { throw unexpectedByte(at: position, expected: .colon) }
        return skipWhitespace(from: position + 1)
    }

    /// Appends the entry of a complete scalar or key, and returns its end offset.
    @inline(__always)
    private mutating func append(_ kind: JSONTapeEntry.Kind, from start: Int, to end: Int) -> Int {
        tape.append(JSONTapeEntry(kind, start: start, end: end, next: tape.count + 1))
        return end
    }

    /// The byte at `position`, or NUL at the end of the text. NUL is not valid anywhere in JSON.
    @inline(__always)
    private func byte(at position: Int) -> UInt8 {
        position < text.count ? text[position] : 0
    }

    @inline(__always)
    private func skipWhitespace(from start: Int) -> Int {
        var position = start
        while byte(at: position).isJSONWhitespace { position += 1 }
        return position
    }

    @inline(__always)
    private static func closingBracket(ofObject isObject: Bool) -> UInt8 {
        isObject ? UInt8(ascii: "}") : UInt8(ascii: "]")
    }
}

extension JSONScanner {
    /// Scans the string or key whose opening quote is at `start`, and returns its end offset.
    private mutating func scanString(at start: Int) throws(Failure) -> Int {
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

    /// Validates the escape sequence at `start`, where a surrogate pair counts as one, and returns its end offset.
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

    /// Returns the UTF-16 code unit of the `\uXXXX` escape at `start`.
    private func codeUnit(ofEscapeAt start: Int, inStringAt string: Int) throws(Failure) -> UInt32 {
        var unit: UInt32 = 0
        for position in start + 2..<start + 6 {
            guard position < text.count else { throw unexpectedEnd(ofStringAt: string) }
            guard let digit = text[position].hexadecimalValue else { throw Failure(.invalidEscape, at: start) }
            unit = unit << 4 | UInt32(digit)
        }
        return unit
    }

    /// Validates the multi-byte UTF-8 sequence at `start` (Unicode, table 3-7), and returns its end offset.
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

    /// Scans the number at `start`, and returns its end offset.
    private mutating func scanNumber(at start: Int) throws(Failure) -> Int {
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

    /// Returns the end offset of a run of at least one digit.
    @inline(__always)
    private func endOfDigits(at start: Int) throws(Failure) -> Int {
        guard byte(at: start).isDigit else { throw unexpectedByte(at: start, expected: .digit) }
        var position = start + 1
        while byte(at: position).isDigit { position += 1 }
        return position
    }

    /// Scans `true`, `false` or `null`, and returns its end offset.
    private mutating func scanLiteral(_ literal: StaticString, _ kind: JSONTapeEntry.Kind, at start: Int) throws(Failure) -> Int {
        for index in 1..<literal.utf8CodeUnitCount where byte(at: start + index) != literal.utf8Start[index] {
            throw unexpectedByte(at: start + index, expected: .literal)
        }
        return append(kind, from: start, to: start + literal.utf8CodeUnitCount)
    }
}

extension JSONScanner {
    /// The error for an invalid byte at `position`, or for the end of the text there.
    private func unexpectedByte(at position: Int, expected: JSONSyntaxError.Expectation) -> Failure {
        guard position < text.count else { return unexpectedEnd() }
        return Failure(.unexpectedByte(text[position], expected: expected), at: position)
    }

    /// The error for a text that ends inside the string whose opening quote is at `start`.
    private func unexpectedEnd(ofStringAt start: Int) -> Failure {
        unexpectedEnd(of: .string, at: start)
    }

    /// The error for a text that ends outside a string.
    private func unexpectedEnd() -> Failure {
        // The entry of an open array or object still has an empty extent.
        guard let open = tape.last(where: { $0.end == $0.start }) else { return Failure(.unexpectedEnd(in: nil), at: text.count) }
        return unexpectedEnd(of: open.kind == .object ? .object : .array, at: Int(open.start))
    }

    private func unexpectedEnd(of kind: JSONSyntaxError.Unclosed.Kind, at start: Int) -> Failure {
        let (line, column) = text.position(ofByteAt: start)
        return Failure(.unexpectedEnd(in: JSONSyntaxError.Unclosed(kind, line: line, column: column)), at: text.count)
    }
}

extension UInt8 {
    /// True if the byte is a decimal digit.
    @inline(__always)
    var isDigit: Bool { self &- UInt8(ascii: "0") < 10 }
}
