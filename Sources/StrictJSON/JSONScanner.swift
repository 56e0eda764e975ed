/// Validates a text in one pass and lays out its tape.
///
/// There is no recursion and no stack: while an array or object is open, its tape entry remembers
/// the one around it. Not copyable, so that the tape is never copied behind anyone's back.
struct JSONScanner: ~Copyable {
    /// A fault, not yet located in lines and columns.
    struct Failure: Error {
        let reason: JSONSyntaxError.Reason
        let offset: Int

        init(_ reason: JSONSyntaxError.Reason, at offset: Int) {
            self.reason = reason
            self.offset = offset
        }
    }

    let text: UnsafeBufferPointer<UInt8>
    private let limits: JSONLimits
    private(set) var tape: [JSONTapeEntry] = []
    private var duplicates = DuplicateKeyFinder()

    init(_ text: UnsafeBufferPointer<UInt8>, limits: JSONLimits) {
        self.text = text
        self.limits = limits
    }

    /// Scans the whole text; afterwards the tape is complete and its first entry is the root.
    mutating func scan() throws(Failure) {
        let longest = min(limits.maximumBytes, JSONLimits.largestText)
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
            // Here a value begins.
            if container != JSONTapeEntry.none { tape[container].countOneMore() }
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

            // Here a value has ended, or an empty array or object is about to.
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

    /// Completes the entry of an array or object and returns the index of the one around it.
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

    /// Scans a key and the colon after it, and returns where its value begins.
    @inline(__always)
    private mutating func scanKey(at start: Int) throws(Failure) -> Int {
        guard byte(at: start) == UInt8(ascii: "\"") else { throw unexpectedByte(at: start, expected: .key) }
        let end = try scanString(at: start)
        let position = skipWhitespace(from: end)
        guard byte(at: position) == UInt8(ascii: ":") else { throw unexpectedByte(at: position, expected: .colon) }
        return skipWhitespace(from: position + 1)
    }

    /// Notes a value that is complete, and returns where it ends.
    @inline(__always)
    mutating func append(_ kind: JSONTapeEntry.Kind, from start: Int, to end: Int) -> Int {
        tape.append(JSONTapeEntry(kind, start: start, end: end, next: tape.count + 1))
        return end
    }

    /// The byte at `position`, or at the end NUL, which is legal nowhere in a text.
    @inline(__always)
    func byte(at position: Int) -> UInt8 {
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
