public import UTF8Text

/// A syntax error in a JSON text, with its location.
public struct JSONSyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    /// The kind of error.
    public let reason: Reason
    /// The offset of the invalid byte, from 0; the text's length for an unexpected end.
    public let offset: Int
    /// The line number of that byte, from 1; lines end with LF.
    public let line: Int
    /// The column number, from 1, in Unicode scalars.
    public let column: Int

    init(_ reason: Reason, at offset: Int, in text: UnsafeBufferPointer<UInt8>) {
        self.reason = reason
        self.offset = offset
        (self.line, self.column) = text.position(ofByteAt: offset)
    }

    /// The location and the reason, in words.
    public var description: String { "line \(line), column \(column): \(reason)" }
}

extension JSONSyntaxError {
    /// The kind of error at the offset.
    public enum Reason: Hashable, Sendable {
        /// The text is empty or ends inside a value; with the innermost string, array or object that is still open.
        case unexpectedEnd(in: Unclosed?)
        /// A byte that is not valid here.
        case unexpectedByte(UInt8, expected: Expectation)
        /// Anything but whitespace after the value.
        case trailingText
        /// A byte order mark at the start of the text.
        case byteOrderMark
        /// A digit after a leading zero.
        case leadingZero
        /// An unescaped control character below U+0020 in a string.
        case controlCharacter(UInt8)
        /// A backslash that is not followed by one of `"\/bfnrt`, or by `u` and four hexadecimal digits.
        case invalidEscape
        /// An escaped half of a surrogate pair without the other half.
        case loneSurrogate
        /// Bytes in a string that are not well-formed UTF-8 (overlong, surrogate, above U+10FFFF or truncated).
        case invalidUTF8
        /// A second member with the same name in an object. Names are compared unescaped, byte by byte.
        case duplicateKey(UTF8Key)
        /// Arrays and objects nested deeper than the limit.
        case tooDeep(limit: Int)
        /// A text longer than the limit.
        case tooLarge(limit: Int)
    }

    /// The token that was expected instead of a byte.
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

extension JSONSyntaxError {
    /// A string, array or object that is still open at the end of a text.
    public struct Unclosed: Hashable, Sendable {
        /// The kinds of tokens that have a closing delimiter.
        public enum Kind: Hashable, Sendable {
            case string
            case array
            case object
        }

        /// The kind of token.
        public let kind: Kind
        /// The line number of its opening delimiter, from 1.
        public let line: Int
        /// The column number of its opening delimiter, from 1, in Unicode scalars.
        public let column: Int

        /// Creates a value from its parts.
        public init(_ kind: Kind, line: Int, column: Int) {
            self.kind = kind
            self.line = line
            self.column = column
        }
    }
}

extension JSONSyntaxError.Reason: CustomStringConvertible {
    /// The reason in words, without the location.
    public var description: String {
        switch self {
        case .unexpectedEnd(nil): "unexpected end of JSON"
        case .unexpectedEnd(let unclosed?): "unexpected end of JSON: \(unclosed) is not closed"
        case .unexpectedByte(let byte, let expected): "expected \(expected), found \(Self.name(of: byte))"
        case .trailingText: "unexpected text after the value"
        case .byteOrderMark: "the text starts with a byte order mark; send UTF-8 without one"
        case .leadingZero: "leading zero in a number"
        case .controlCharacter(let byte): "control character \(Self.name(of: byte)) in a string; write it as an escape"
        case .invalidEscape: "invalid escape sequence in a string"
        case .loneSurrogate: "unpaired surrogate in an escape sequence"
        case .invalidUTF8: "invalid UTF-8 in a string"
        case .duplicateKey(let key): "duplicate key \(Self.quoted(key))"
        case .tooDeep(let limit): "arrays and objects nested more than \(limit) levels deep"
        case .tooLarge(let limit): "the text is longer than \(limit) bytes"
        }
    }

    private static func name(of byte: UInt8) -> String {
        guard (0x21...0x7e).contains(byte) else {
            return "byte 0x" + (byte < 0x10 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
        return "'\(Unicode.Scalar(byte))'"
    }

    /// The key as a JSON string, truncated to 100 scalars to keep log lines short.
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
    /// The expected token, in words.
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

extension JSONSyntaxError.Unclosed: CustomStringConvertible {
    /// The kind and location, in words.
    public var description: String { "the \(kind) that starts at line \(line), column \(column)" }
}

extension UnsafeBufferPointer<UInt8> {
    /// Returns the line and column, both from 1, of the byte at `offset`. Columns count Unicode scalars.
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
