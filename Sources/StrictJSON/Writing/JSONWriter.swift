public import UTF8Text

/// A writer of compact JSON.
///
/// The writer inserts commas and colons. The caller follows the grammar: every member of an object is a
/// ``key(_:)-(UTF8Key)`` followed by a value, keys are unique, and every object and array is closed.
///
/// ```swift
/// var writer = JSONWriter()
/// writer.beginObject()
/// writer.key("answer")
/// writer.integer(42)
/// writer.endObject()
/// let bytes = writer.finish()   // {"answer":42}
/// ```
public struct JSONWriter: Sendable {
    /// The bytes written so far.
    public private(set) var bytes: [UInt8] = []
    private var needsComma = false

    /// Creates an empty writer with `capacity` bytes reserved.
    public init(reservingCapacity capacity: Int = 0) {
        bytes.reserveCapacity(capacity)
    }

    /// Returns the written bytes without copying them.
    public consuming func finish() -> [UInt8] {
        bytes
    }

    /// Begins an object.
    public mutating func beginObject() {
        begin(UInt8(ascii: "{"))
    }

    /// Ends the innermost object.
    public mutating func endObject() {
        end(UInt8(ascii: "}"))
    }

    /// Begins an array.
    public mutating func beginArray() {
        begin(UInt8(ascii: "["))
    }

    /// Ends the innermost array.
    public mutating func endArray() {
        end(UInt8(ascii: "]"))
    }

    /// Writes the key of a member; its value must follow.
    @_disfavoredOverload  // Otherwise a literal argument would be ambiguous.
    public mutating func key(_ key: UTF8Key) {
        key.withBytes { name in endKey(afterWriting: name) }
    }

    /// Writes a key known at compile time; the value must follow.
    public mutating func key(_ key: StaticString) {
        key.withUTF8Buffer { name in endKey(afterWriting: name) }
    }

    /// Writes a string, escaping `"`, `\` and the control characters below U+0020 and at U+007F.
    public mutating func string(_ string: String) {
        writeSeparator()
        var string = string
        string.withUTF8 { appendQuoted($0) }
    }

    /// Writes an integer.
    public mutating func integer(_ value: Int64) {
        writeSeparator()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes a double as the shortest literal that round-trips, always with a fraction or exponent.
    ///
    /// - Precondition: `value` is finite.
    public mutating func double(_ value: Double) {
        precondition(value.isFinite, "JSON has no literal for \(value)")
        writeSeparator()
        bytes.append(contentsOf: value.description.utf8)
    }

    /// Writes `true` or `false`.
    public mutating func boolean(_ value: Bool) {
        writeSeparator()
        appendLiteral(value ? "true" : "false")
    }

    /// Writes `null`.
    public mutating func null() {
        writeSeparator()
        appendLiteral("null")
    }

    /// Writes a value that is already valid JSON, unchanged.
    public mutating func raw(_ value: some Collection<UInt8>) {
        writeSeparator()
        bytes.append(contentsOf: value)
    }
}

extension JSONWriter {
    private mutating func writeSeparator() {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
    }

    private mutating func begin(_ bracket: UInt8) {
        writeSeparator()
        bytes.append(bracket)
        needsComma = false
    }

    private mutating func end(_ bracket: UInt8) {
        bytes.append(bracket)
        needsComma = true
    }

    private mutating func endKey(afterWriting name: UnsafeBufferPointer<UInt8>) {
        writeSeparator()
        appendQuoted(name)
        bytes.append(UInt8(ascii: ":"))
        needsComma = false
    }

    private mutating func appendLiteral(_ literal: StaticString) {
        literal.withUTF8Buffer { bytes.append(contentsOf: $0) }
    }

    /// Appends runs of unescaped bytes at once, and escapes the bytes between them.
    private mutating func appendQuoted(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        var start = 0
        while true {
            let end = text.endOfUnescapedText(from: start)
            bytes.append(contentsOf: UnsafeBufferPointer(rebasing: text[start..<end]))
            if end == text.count { break }
            appendEscape(of: text[end])
            start = end + 1
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func appendEscape(of byte: UInt8) {
        bytes.append(UInt8(ascii: "\\"))
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes.append(byte)
        case 0x08: bytes.append(UInt8(ascii: "b"))
        case 0x09: bytes.append(UInt8(ascii: "t"))
        case 0x0a: bytes.append(UInt8(ascii: "n"))
        case 0x0c: bytes.append(UInt8(ascii: "f"))
        case 0x0d: bytes.append(UInt8(ascii: "r"))
        default:
            appendLiteral("u00")
            bytes.append(Self.hexadecimalDigit(byte >> 4))
            bytes.append(Self.hexadecimalDigit(byte & 0xf))
        }
    }

    private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "a") + value - 10
    }
}
