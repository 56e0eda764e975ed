/// Why and where a text isn't acceptable JSON.
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What is wrong.
    public let reason: Reason
    /// The byte at fault, counted from 0; the text's length when it ends too early.
    public let offset: Int
    /// The line of that byte, counted from 1; lines end with LF.
    public let line: Int
    /// The place in that line, counted from 1 in Unicode scalars.
    public let column: Int

    init(_ reason: Reason, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.reason = reason
        self.offset = offset
        (self.line, self.column) = text.position(ofByteAt: offset)
    }

    /// The place and the reason, for a person.
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension JSONSyntaxError {
    /// What was wrong at the offset.
    public enum Reason: Hashable, Sendable {
        /// The text ends inside a value, or is empty; with what is still open there, the innermost where several are.
        case unexpectedEnd(in: Unclosed?)
        /// A byte that can't stand here.
        case unexpectedByte(UInt8, expected: Expectation)
        /// Something other than white space follows the value.
        case trailingText
        /// The text begins with a byte order mark.
        case byteOrderMark
        /// A digit follows a leading zero.
        case leadingZero
        /// A control character below U+0020 stands unescaped in a string.
        case controlCharacter(UInt8)
        /// A backslash isn't followed by one of `"\/bfnrt` or by `u` and four hexadecimal digits.
        case invalidEscape
        /// An escape names one half of a surrogate pair without the other.
        case loneSurrogate
        /// A string's bytes aren't well-formed UTF-8 (overlong, surrogate, above U+10FFFF or cut short).
        case invalidUTF8
        /// An object has a member of this name already; names are compared unescaped, byte by byte.
        case duplicateKey(UTF8Key)
        /// More arrays and objects lie inside each other than allowed.
        case tooDeep(limit: Int)
        /// The text has more bytes than allowed.
        case tooLarge(limit: Int)
    }

    /// What could have stood in a byte's place.
    public enum Expectation: Hashable, Sendable {
        /// Any value.
        case value
        /// A member's name.
        case key
        /// The colon after a member's name.
        case colon
        /// A comma or the end of the array.
        case commaOrEndOfArray
        /// A comma or the end of the object.
        case commaOrEndOfObject
        /// A digit of a number.
        case digit
        /// The rest of a literal: `true`, `false` or `null`.
        case literal
    }
}

extension JSONSyntaxError.Reason: CustomStringConvertible {
    /// The reason in words, without the place.
    public var description: String {
        switch self {
        case .unexpectedEnd(nil): "the text ends too early"
        case .unexpectedEnd(let unclosed?): "the text ends too early: \(unclosed) is not closed"
        case .unexpectedByte(let byte, let expected): "expected \(expected), found \(Self.name(of: byte))"
        case .trailingText: "unexpected text after the value"
        case .byteOrderMark: "the text begins with a byte order mark; send UTF-8 without one"
        case .leadingZero: "a number may not begin with 0 before other digits"
        case .controlCharacter(let byte): "control character \(Self.name(of: byte)) in a string; write it as an escape"
        case .invalidEscape: "invalid escape in a string"
        case .loneSurrogate: "an escape names half of a surrogate pair"
        case .invalidUTF8: "invalid UTF-8 in a string"
        case .duplicateKey(let key): "duplicate key \(Self.quoted(key))"
        case .tooDeep(let limit): "more than \(limit) arrays and objects inside each other"
        case .tooLarge(let limit): "the text is longer than \(limit) bytes"
        }
    }

    private static func name(of byte: UInt8) -> String {
        guard (0x21...0x7e).contains(byte) else {
            return "byte 0x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "'\(Unicode.Scalar(byte))'"
    }

    /// The key as JSON, cut where it would fill a log line.
    private static func quoted(_ key: UTF8Key) -> String {
        let longest = 100
        var shown = String.UnicodeScalarView(key.string.unicodeScalars.prefix(longest))
        if key.string.unicodeScalars.dropFirst(longest).first != nil { shown.append("…") }
        var writer = JSONWriter()
        writer.string(String(shown))
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONSyntaxError.Expectation: CustomStringConvertible {
    /// What was expected, in words.
    public var description: String {
        switch self {
        case .value: "a value"
        case .key: "a key in double quotes"
        case .colon: "':'"
        case .commaOrEndOfArray: "',' or ']'"
        case .commaOrEndOfObject: "',' or '}'"
        case .digit: "a digit"
        case .literal: "true, false or null"
        }
    }
}

extension UnsafeBufferPointer<UInt8> {
    /// Line and column, both from 1, of the byte at `offset`; columns count scalars.
    func position(ofByteAt offset: Int) -> (line: Int, column: Int) {
        var line = 1
        var column = 1
        for byte in self[..<offset] {
            if byte == UInt8(ascii: "\n") {
                line += 1
                column = 1
            } else if byte & 0b1100_0000 != 0b1000_0000 {
                column += 1
            }
        }
        return (line, column)
    }
}
