import StrictJSON
import Testing

@Suite("A syntax error says what is wrong and where")
struct JSONSyntaxErrorTests {
    struct Fault: CustomTestStringConvertible, Sendable {
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
        "The offset is that of the byte at fault",
        arguments: [
            Fault("", .unexpectedEnd(in: nil), at: 0),
            Fault("  ", .unexpectedEnd(in: nil), at: 2),
            Fault("[1,]", .unexpectedByte(0x5d, expected: .value), at: 3),
            Fault("[1 2]", .unexpectedByte(0x32, expected: .commaOrEndOfArray), at: 3),
            Fault("[1}", .unexpectedByte(0x7d, expected: .commaOrEndOfArray), at: 2),
            Fault("{\"a\":1,}", .unexpectedByte(0x7d, expected: .key), at: 7),
            Fault("{a:1}", .unexpectedByte(0x61, expected: .key), at: 1),
            Fault("{\"a\" 1}", .unexpectedByte(0x31, expected: .colon), at: 5),
            Fault("{\"a\":1 \"b\":2}", .unexpectedByte(0x22, expected: .commaOrEndOfObject), at: 7),
            Fault("{\"a\":}", .unexpectedByte(0x7d, expected: .value), at: 5),
            Fault("[\u{a0}]", .unexpectedByte(0xc2, expected: .value), at: 1),
            Fault("\0", .unexpectedByte(0x00, expected: .value), at: 0),
            Fault("nulx", .unexpectedByte(0x78, expected: .literal), at: 3),
            Fault("1 x", .trailingText, at: 2),
            Fault("1x", .trailingText, at: 1),
            Fault("\u{feff}1", .byteOrderMark, at: 0),
            Fault("[-]", .unexpectedByte(0x5d, expected: .digit), at: 2),
            Fault("[1.]", .unexpectedByte(0x5d, expected: .digit), at: 3),
            Fault("[1e+]", .unexpectedByte(0x5d, expected: .digit), at: 4),
            Fault("[-012]", .leadingZero, at: 3),
            Fault("\"a\tb\"", .controlCharacter(0x09), at: 2),
            Fault("\"a\\x\"", .invalidEscape, at: 2),
            Fault("\"a\\u12g4\"", .invalidEscape, at: 2),
            Fault("\"ab\\ud800\"", .loneSurrogate, at: 3),
            Fault("\"\\ud83d\\udca9\\udc00\"", .loneSurrogate, at: 13),
            Fault("\"\\ud800\\uzzzz\"", .invalidEscape, at: 7),
            Fault("{\"a\":[{\"b\":1,\"c\":2,\"b\":3}]}", .duplicateKey("b"), at: 19),
        ]
    )
    func offsets(fault: Fault) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(fault.text) }
        #expect(error.reason == fault.reason)
        #expect(error.offset == fault.offset)
        #expect(error.line == 1)
    }

    @Test("Invalid UTF-8 is reported where the sequence begins")
    func invalidUTF8() throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText([0x22, 0x61, 0xc3, 0xa9, 0xe2, 0x82, 0x22]) }
        #expect(error.reason == .invalidUTF8)
        #expect(error.offset == 4)
    }

    @Test("Lines end with LF, columns count scalars")
    func lineAndColumn() throws {
        let text = "{\n  \"\u{e9}\": 1,\r\n  \"e\u{301}\u{1f9a6}\": x\n}"
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(text) }
        #expect(error.reason == .unexpectedByte(0x78, expected: .value))
        #expect(error.offset == 27)
        #expect(error.line == 3)
        #expect(error.column == 10)
    }

    @Test("A text that ends too early points after its last character")
    func endPosition() throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText("[1,\n") }
        #expect(error.offset == 4)
        #expect(error.line == 2)
        #expect(error.column == 1)
    }

    @Test(
        "The description names place, expectation and find",
        arguments: [
            ("[1,\n ]", "line 2, column 2: expected a value, found ']'"),
            ("{\"a\":1,}", "line 1, column 8: expected a key in double quotes, found '}'"),
            ("[\u{7}]", "line 1, column 2: expected a value, found byte 0x07"),
            ("{\"a\\\"b\":1,\"a\\\"b\":2}", "line 1, column 11: duplicate key \"a\\\"b\""),
            ("", "line 1, column 1: the text ends too early"),
            ("-", "line 1, column 2: the text ends too early"),
            ("[", "line 1, column 2: the text ends too early: the array that begins at line 1, column 1 is not closed"),
        ]
    )
    func descriptions(text: String, description: String) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(text) }
        #expect(error.description == description)
    }

    @Test(
        "A text that ends too early names the innermost thing that is not closed, and where it begins",
        arguments: [
            (#"{"a": "b"#, .string, 1, 7), (#"{"a": "b\"#, .string, 1, 7), (#"{"a": "b\u12"#, .string, 1, 7),
            (#"{"a": "b\ud83d"#, .string, 1, 7), (#"{"a": "b\ud83d\"#, .string, 1, 7), (#"{"a"#, .string, 1, 2),
            (#"{"a""#, .object, 1, 1), (#"{"a":"#, .object, 1, 1), (#"{"a": "b""#, .object, 1, 1), (#"{"a": 1,"#, .object, 1, 1),
            (#"{"a": [1, {}, "x""#, .array, 1, 7), (#"{"a": [1, -"#, .array, 1, 7), (#"{"a": [1], "b": tr"#, .object, 1, 1),
            ("{\n  \"é\": {\n    \"b\": []\n  ", .object, 2, 8), ("[[], {}, [\n", .array, 1, 10),
        ] as [(String, JSONSyntaxError.Unclosed.Kind, Int, Int)]
    )
    func unclosed(text: String, kind: JSONSyntaxError.Unclosed.Kind, line: Int, column: Int) throws {
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText(text) }
        #expect(error.reason == .unexpectedEnd(in: JSONSyntaxError.Unclosed(kind, line: line, column: column)))
        #expect(error.offset == text.utf8.count)
    }

    @Test("A long key is cut in the description, not in the reason")
    func longKey() throws {
        let key = String(repeating: "\u{e9}", count: 5_000)
        let error = try #require(throws: JSONSyntaxError.self) { try JSONText("{\"\(key)\":1,\"\(key)\":2}") }
        #expect(error.reason == .duplicateKey(UTF8Key(key)))
        #expect(error.description.utf8.count < 300)
    }
}
