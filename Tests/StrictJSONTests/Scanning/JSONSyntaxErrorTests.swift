import StrictJSON
import Testing
import UTF8Text

@Suite("Syntax errors")
struct JSONSyntaxErrorTests {
    struct SyntaxErrorCase: CustomTestStringConvertible, Sendable {
        let text: String
        let reason: JSONSyntaxError.Reason
        let offset: Int
        var testDescription: String { text }

        init(_ text: String, _ reason: JSONSyntaxError.Reason, at offset: Int) {
            self.text = text
            self.reason = reason
            self.offset = offset
        }
    }

    @Test(
        arguments: [
            SyntaxErrorCase("", .unexpectedEnd(in: nil), at: 0),
            SyntaxErrorCase("  ", .unexpectedEnd(in: nil), at: 2),
            SyntaxErrorCase("[1,]", .unexpectedByte(0x5d, expected: .value), at: 3),
            SyntaxErrorCase("[1 2]", .unexpectedByte(0x32, expected: .commaOrEndOfArray), at: 3),
            SyntaxErrorCase("[1}", .unexpectedByte(0x7d, expected: .commaOrEndOfArray), at: 2),
            SyntaxErrorCase("{\"a\":1,}", .unexpectedByte(0x7d, expected: .key), at: 7),
            SyntaxErrorCase("{a:1}", .unexpectedByte(0x61, expected: .key), at: 1),
            SyntaxErrorCase("{\"a\" 1}", .unexpectedByte(0x31, expected: .colon), at: 5),
            SyntaxErrorCase("{\"a\":1 \"b\":2}", .unexpectedByte(0x22, expected: .commaOrEndOfObject), at: 7),
            SyntaxErrorCase("{\"a\":}", .unexpectedByte(0x7d, expected: .value), at: 5),
            SyntaxErrorCase("[\u{a0}]", .unexpectedByte(0xc2, expected: .value), at: 1),
            SyntaxErrorCase("\0", .unexpectedByte(0x00, expected: .value), at: 0),
            SyntaxErrorCase("nulx", .unexpectedByte(0x78, expected: .literal), at: 3),
            SyntaxErrorCase("1 x", .trailingText, at: 2),
            SyntaxErrorCase("1x", .trailingText, at: 1),
            SyntaxErrorCase("\u{feff}1", .byteOrderMark, at: 0),
            SyntaxErrorCase("[-]", .unexpectedByte(0x5d, expected: .digit), at: 2),
            SyntaxErrorCase("[1.]", .unexpectedByte(0x5d, expected: .digit), at: 3),
            SyntaxErrorCase("[1e+]", .unexpectedByte(0x5d, expected: .digit), at: 4),
            SyntaxErrorCase("[-012]", .leadingZero, at: 3),
            SyntaxErrorCase("\"a\tb\"", .controlCharacter(0x09), at: 2),
            SyntaxErrorCase("\"a\\x\"", .invalidEscape, at: 2),
            SyntaxErrorCase("\"a\\u12g4\"", .invalidEscape, at: 2),
            SyntaxErrorCase("\"ab\\ud800\"", .loneSurrogate, at: 3),
            SyntaxErrorCase("\"\\ud83d\\udca9\\udc00\"", .loneSurrogate, at: 13),
            SyntaxErrorCase("\"\\ud800\\uzzzz\"", .invalidEscape, at: 7),
            SyntaxErrorCase("{\"a\":[{\"b\":1,\"c\":2,\"b\":3}]}", .duplicateKey("b"), at: 19),
        ]
    )
    func `The offset is that of the invalid byte`(expected: SyntaxErrorCase) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(expected.text) }
        #expect(error.reason == expected.reason)
        #expect(error.offset == expected.offset)
        #expect(error.line == 1)
    }

    @Test
    func `Invalid UTF-8 is reported at the first byte of the sequence`() throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText([0x22, 0x61, 0xc3, 0xa9, 0xe2, 0x82, 0x22]) }
        #expect(error.reason == .invalidUTF8)
        #expect(error.offset == 4)
    }

    @Test
    func `Lines end with LF, and columns count Unicode scalars`() throws {
        let text = "{\n  \"\u{e9}\": 1,\r\n  \"e\u{301}\u{1f9a6}\": x\n}"
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(text) }
        #expect(error.reason == .unexpectedByte(0x78, expected: .value))
        #expect(error.offset == 27)
        #expect(error.line == 3)
        #expect(error.column == 10)
    }

    @Test
    func `An unexpected end is reported after the last character`() throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText("[1,\n") }
        #expect(error.offset == 4)
        #expect(error.line == 2)
        #expect(error.column == 1)
    }

    @Test(
        arguments: [
            ("[1,\n ]", "line 2, column 2: expected a value, found ']'"),
            ("{\"a\":1,}", "line 1, column 8: expected a key in double quotes, found '}'"),
            ("[\u{7}]", "line 1, column 2: expected a value, found byte 0x07"),
            ("{\"a\\\"b\":1,\"a\\\"b\":2}", "line 1, column 11: duplicate key \"a\\\"b\""),
            ("", "line 1, column 1: unexpected end of JSON"),
            ("-", "line 1, column 2: unexpected end of JSON"),
            ("[", "line 1, column 2: unexpected end of JSON: the array that starts at line 1, column 1 is not closed"),
        ]
    )
    func `The description has the location, and what was expected and found`(text: String, description: String) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(text) }
        #expect(error.description == description)
    }

    @Test(
        arguments: [
            (#"{"a": "b"#, .string, 1, 7), (#"{"a": "b\"#, .string, 1, 7), (#"{"a": "b\u12"#, .string, 1, 7),
            (#"{"a": "b\ud83d"#, .string, 1, 7), (#"{"a": "b\ud83d\"#, .string, 1, 7), (#"{"a"#, .string, 1, 2),
            (#"{"a""#, .object, 1, 1), (#"{"a":"#, .object, 1, 1), (#"{"a": "b""#, .object, 1, 1), (#"{"a": 1,"#, .object, 1, 1),
            (#"{"a": [1, {}, "x""#, .array, 1, 7), (#"{"a": [1, -"#, .array, 1, 7), (#"{"a": [1], "b": tr"#, .object, 1, 1),
            ("{\n  \"é\": {\n    \"b\": []\n  ", .object, 2, 8), ("[[], {}, [\n", .array, 1, 10),
        ] as [(String, JSONSyntaxError.Unclosed.Kind, Int, Int)]
    )
    func `An unexpected end names the innermost unclosed value and its location`(
        text: String,
        kind: JSONSyntaxError.Unclosed.Kind,
        line: Int,
        column: Int
    ) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(text) }
        #expect(error.reason == .unexpectedEnd(in: JSONSyntaxError.Unclosed(kind, line: line, column: column)))
        #expect(error.offset == text.utf8.count)
    }

    @Test
    func `The description truncates a long key; the reason doesn't`() throws {
        let key = String(repeating: "\u{e9}", count: 5_000)
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText("{\"\(key)\":1,\"\(key)\":2}") }
        #expect(error.reason == .duplicateKey(UTF8Key(key)))
        #expect(error.description.utf8.count < 300)
    }
}
