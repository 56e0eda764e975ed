import StrictJSON
import Testing

/// A JSON text as bytes, displayed by its name.
struct TextCase: CustomTestStringConvertible, Sendable {
    let testDescription: String
    let bytes: [UInt8]

    init(_ name: String, _ text: String) {
        self.init(name, bytes: Array(text.utf8))
    }

    init(_ name: String, bytes: [UInt8]) {
        self.testDescription = name
        self.bytes = bytes
    }

    /// A JSON string with the given bytes between its quotes.
    static func string(_ name: String, _ contents: [UInt8]) -> TextCase {
        TextCase(name, bytes: [0x22] + contents + [0x22])
    }
}

@Suite("The grammar is that of RFC 8259")
struct JSONGrammarTests {
    @Test(arguments: accepted)
    func `Valid texts are accepted`(text: TextCase) throws {
        _ = try JSONText(text.bytes)
        #expect(ReferenceJSONParser.value(of: text.bytes) == JSONSample(try JSONText(text.bytes).root))
    }

    @Test(arguments: rejected)
    func `Invalid texts are rejected`(text: TextCase) {
        #expect(throws: JSONSyntaxError.self) { try JSONText(text.bytes) }
        #expect(ReferenceJSONParser.value(of: text.bytes) == nil)
    }

    @Test
    func `A text truncated at any byte is rejected at its end`() throws {
        let text = Array(#" {"a\n\u00e9\ud83d\udca9":[1,-2.5e+3,true,false,null,"",{}],"b":{"c":[[]]}}"#.utf8)
        _ = try JSONText(text)
        for count in text.indices {
            let error = try #require(throws: JSONSyntaxError.self) { try JSONText(Array(text[..<count])) }
            guard case .unexpectedEnd = error.reason else {
                Issue.record("\(error)")
                continue
            }
            #expect(error.offset == count)
        }
    }

    @Test
    func `A truncated UTF-8 sequence is rejected at its first byte`() throws {
        let text = Array("\"\u{1f9a6}".utf8)
        for count in 2..<text.count {
            let error = try #require(throws: JSONSyntaxError.self) { try JSONText(Array(text[..<count])) }
            #expect(error.reason == .invalidUTF8)
            #expect(error.offset == 1)
        }
    }

    @Test
    func `A single byte is a valid text only if it is a digit`() {
        for byte in UInt8.min ... .max {
            let isAccepted = (try? JSONText([byte])) != nil
            #expect(isAccepted == (0x30...0x39).contains(byte), "byte \(byte)")
        }
    }

    @Test(
        arguments: [0x00, 0x1f, 0x22, 0x5c, 0x80, 0xff] as [UInt8]
    )
    func `An invalid byte is detected at any alignment in a string`(invalid: UInt8) {
        for before in 0..<20 {
            for after in 0..<20 {
                let plain = [UInt8](repeating: 0x7f, count: before)
                let text = [0x22] + plain + [invalid] + [UInt8](repeating: 0x61, count: after) + [0x22]
                let value = (try? JSONText(text)).map { JSONSample($0.root) }
                #expect(value == ReferenceJSONParser.value(of: text), "\(before) before, \(after) after")
            }
        }
    }
}

private let accepted: [TextCase] = [
    TextCase("literal true", "true"),
    TextCase("literal false", "false"),
    TextCase("literal null", "null"),
    TextCase("empty string", #""""#),
    TextCase("empty array", "[]"),
    TextCase("empty object", "{}"),
    TextCase("array with space inside", "[ \n]"),
    TextCase("object with space inside", "{\t\r}"),
    TextCase("all white space everywhere", " \t\r\n{ \t\r\n\"a\" \t\r\n: \t\r\n[ \t\r\n1 \t\r\n, \t\r\n2 \t\r\n] \t\r\n} \t\r\n"),
    TextCase("arrays of every kind", #"[null,true,false,0,0.0,"",[],{}]"#),
    TextCase("object of every kind", #"{"a":null,"b":true,"c":false,"d":0,"e":0.0,"f":"","g":[],"h":{}}"#),
    TextCase("nested mixture", #"[{"a":[{"b":[]}]},[[{}]],{"":""}]"#),
    TextCase("empty key", #"{"":0}"#),
    TextCase("number zero", "0"),
    TextCase("number minus zero", "-0"),
    TextCase("number minus zero with fraction", "-0.0"),
    TextCase("number integer", "1234567890"),
    TextCase("number negative", "-12"),
    TextCase("number fraction", "0.25"),
    TextCase("number fraction with zeros", "10.0100"),
    TextCase("number exponent", "1e5"),
    TextCase("number capital exponent", "1E5"),
    TextCase("number exponent plus", "1e+5"),
    TextCase("number exponent minus", "1.5E-5"),
    TextCase("number zero exponent", "0e0"),
    TextCase("number exponent with leading zeros", "1e007"),
    TextCase("number huge integer", String(repeating: "9", count: 400)),
    TextCase("number huge exponent", "1e999999999999"),
    TextCase("number tiny exponent", "1e-999999999999"),
    TextCase("number many fraction digits", "0." + String(repeating: "1", count: 2_000)),
    TextCase("string short escapes", #""\"\\\/\b\f\n\r\t""#),
    TextCase("string unicode escape", #""\u0041\u00e9\uABCD\uffff""#),
    TextCase("string escaped NUL", #""a\u0000b""#),
    TextCase("string escaped surrogate pair", #""\ud83d\uDCA9""#),
    TextCase("string lowest and highest pair", #""\ud800\udc00\udbff\udfff""#),
    TextCase("string escaped noncharacters", #""\ufdd0\uffff\udbff\udffe""#),
    TextCase("string DEL unescaped", "\"\u{7f}\""),
    TextCase("string C1 control unescaped", "\"\u{85}\""),
    TextCase("string U+2028 and U+2029", "\"\u{2028}\u{2029}\""),
    TextCase("string byte order mark inside", "\"\u{feff}\""),
    TextCase("string combining", "\"e\u{301}\u{e9}\""),
    TextCase("string combining after the quote", "\"\u{301}\""),
    TextCase("string astral", "\"\u{1f9a6}\u{10ffff}\""),
    TextCase("string right to left", "\"\u{62f}\u{644}\u{64a}\u{644}\""),
    TextCase("string solidus unescaped", #""a/b""#),
    TextCase("string looks like comment", #""// /* */ #""#),
    .string("UTF-8 first two-byte scalar", [0xc2, 0x80]),
    .string("UTF-8 last two-byte scalar", [0xdf, 0xbf]),
    .string("UTF-8 first three-byte scalar", [0xe0, 0xa0, 0x80]),
    .string("UTF-8 before the surrogates", [0xed, 0x9f, 0xbf]),
    .string("UTF-8 after the surrogates", [0xee, 0x80, 0x80]),
    .string("UTF-8 last three-byte scalar", [0xef, 0xbf, 0xbf]),
    .string("UTF-8 first four-byte scalar", [0xf0, 0x90, 0x80, 0x80]),
    .string("UTF-8 last scalar", [0xf4, 0x8f, 0xbf, 0xbf]),
    TextCase("composed and decomposed keys", "{\"\u{e9}\":1,\"e\u{301}\":2}"),
]

private let rejected: [TextCase] = [
    TextCase("nothing", ""),
    TextCase("only white space", " \n\t\r"),
    TextCase("byte order mark", "\u{feff}{}"),
    TextCase("byte order mark at the end", "{}\u{feff}"),
    TextCase("UTF-16 little endian", bytes: [0x5b, 0x00, 0x5d, 0x00]),
    TextCase("UTF-16 big endian", bytes: [0x00, 0x5b, 0x00, 0x5d]),
    TextCase("NUL after the value", "1\0"),
    TextCase("NUL before the value", "\u{0}1"),
    TextCase("NUL in an array", "[1,\0]"),
    TextCase("NUL instead of a closing quote", "\"a\0"),
    TextCase("no-break space", "[\u{a0}1]"),
    TextCase("form feed", "[\u{c}1]"),
    TextCase("vertical tab", "[\u{b}1]"),
    TextCase("next line", "[\u{85}1]"),
    TextCase("U+2028 as white space", "[1\u{2028}]"),
    TextCase("U+2060 as white space", "[\u{2060}]"),
    TextCase("ideographic space", "[\u{3000}1]"),
    TextCase("two values", "1 2"),
    TextCase("two objects", "{}{}"),
    TextCase("lines of objects", "{}\n{}"),
    TextCase("closing bracket after the value", "[]]"),
    TextCase("comma after the value", "{},"),
    TextCase("text after the value", "{\"a\":1}x"),
    TextCase("comment after the value", "1 // one"),
    TextCase("block comment", "[/* one */1]"),
    TextCase("hash comment", "# one\n1"),
    TextCase("array trailing comma", "[1,]"),
    TextCase("array leading comma", "[,1]"),
    TextCase("array only a comma", "[,]"),
    TextCase("array double comma", "[1,,2]"),
    TextCase("array without comma", "[1 2]"),
    TextCase("array colon for comma", "[1:2]"),
    TextCase("array closed as object", "[1}"),
    TextCase("array unclosed", "[1"),
    TextCase("array unclosed after comma", "[1,"),
    TextCase("array in array unclosed", "[[]"),
    TextCase("object trailing comma", #"{"a":1,}"#),
    TextCase("object leading comma", #"{,"a":1}"#),
    TextCase("object double comma", #"{"a":1,,"b":2}"#),
    TextCase("object closed as array", #"{"a":1]"#),
    TextCase("object unclosed", #"{"a":1"#),
    TextCase("object comma for colon", #"{"a",1}"#),
    TextCase("object missing colon", #"{"a" 1}"#),
    TextCase("object double colon", #"{"a"::1}"#),
    TextCase("object missing value", #"{"a":}"#),
    TextCase("object key alone", #"{"a"}"#),
    TextCase("object bare key", "{a:1}"),
    TextCase("object number key", "{1:1}"),
    TextCase("object null key", "{null:1}"),
    TextCase("object single-quoted key", "{'a':1}"),
    TextCase("object elements", #"{"a","b"}"#),
    TextCase("object two keys", #"{"a" "b":1}"#),
    TextCase("duplicate key", #"{"a":1,"a":1}"#),
    TextCase("duplicate key by escape", #"{"a":1,"\u0061":2}"#),
    TextCase("literal capital", "True"),
    TextCase("literal all capitals", "NULL"),
    TextCase("literal truncated", "tru"),
    TextCase("literal too long", "truee"),
    TextCase("literal misspelled", "nul1"),
    TextCase("literal undefined", "undefined"),
    TextCase("literal fullwidth", "\u{ff54}rue"),
    TextCase("number NaN", "NaN"),
    TextCase("number nan", "nan"),
    TextCase("number Infinity", "Infinity"),
    TextCase("number minus Infinity", "-Infinity"),
    TextCase("number inf", "inf"),
    TextCase("number plus", "+1"),
    TextCase("number minus alone", "-"),
    TextCase("number double minus", "--1"),
    TextCase("number minus space", "- 1"),
    TextCase("number leading zero", "01"),
    TextCase("number negative leading zero", "-01"),
    TextCase("number double zero", "00"),
    TextCase("number leading point", ".5"),
    TextCase("number minus leading point", "-.5"),
    TextCase("number trailing point", "1."),
    TextCase("number point before exponent", "1.e5"),
    TextCase("number two points", "1.2.3"),
    TextCase("number exponent alone", "e5"),
    TextCase("number exponent without digits", "1e"),
    TextCase("number exponent sign without digits", "1e+"),
    TextCase("number exponent two signs", "1e+-5"),
    TextCase("number exponent with fraction", "1e5.5"),
    TextCase("number two exponents", "1e5e5"),
    TextCase("number hexadecimal", "0x1F"),
    TextCase("number hexadecimal float", "0x1p3"),
    TextCase("number octal", "0o7"),
    TextCase("number with separator", "1_000"),
    TextCase("number with comma", "1,000"),
    TextCase("number with suffix", "1f"),
    TextCase("number fullwidth digit", "\u{ff11}"),
    TextCase("number Arabic digit", "\u{661}"),
    TextCase("number minus sign U+2212", "\u{2212}1"),
    TextCase("string unclosed", "\"a"),
    TextCase("string only a quote", "\""),
    TextCase("string ends in a backslash", "\"\\"),
    TextCase("string closing quote escaped", #""\""#),
    TextCase("string single-quoted", "'a'"),
    TextCase("string curly quotes", "\u{201c}a\u{201d}"),
    TextCase("string without quotes", "abc"),
    TextCase("string raw newline", "\"a\nb\""),
    TextCase("string raw tab", "\"\t\""),
    TextCase("string raw NUL", "\"a\0b\""),
    TextCase("string raw unit separator", "\"\u{1f}\""),
    TextCase("string escape a", #""\a""#),
    TextCase("string escape x", #""\x41""#),
    TextCase("string escape 0", #""\0""#),
    TextCase("string escape capital U", #""\U0041""#),
    TextCase("string escape apostrophe", #""\'""#),
    TextCase("string escape newline", "\"\\\n\""),
    TextCase("string escape non-ASCII", "\"\\\u{e9}\""),
    TextCase("string escape without digits", #""\u""#),
    TextCase("string escape with three digits", #""\u004""#),
    TextCase("string escape with other letters", #""\u00g0""#),
    TextCase("string escape with plus", #""\u+041""#),
    TextCase("string escape with space", #""\u 041""#),
    TextCase("string escape with fullwidth digits", "\"\\u\u{ff10}041\""),
    TextCase("string escape in braces", #""\u{41}""#),
    TextCase("surrogate high alone", #""\ud800""#),
    TextCase("surrogate low alone", #""\udc00""#),
    TextCase("surrogate high and text", #""\ud800abcdef""#),
    TextCase("surrogate high twice", #""\ud800\ud800""#),
    TextCase("surrogate high and other escape", #""\ud800\n""#),
    TextCase("surrogate high and ordinary escape", #""\ud800\u0041""#),
    TextCase("surrogates swapped", #""\udc00\ud800""#),
    TextCase("surrogate pair truncated", #""\ud83d\udca""#),
    TextCase("surrogate half raw, half escaped", "\"\\ud83d\u{1f9a6}\""),
    TextCase("surrogate in a key", #"{"\ud800":1}"#),
    .string("UTF-8 lone continuation", [0x80]),
    .string("UTF-8 overlong slash in two", [0xc0, 0xaf]),
    .string("UTF-8 overlong NUL", [0xc0, 0x80]),
    .string("UTF-8 overlong in two, highest", [0xc1, 0xbf]),
    .string("UTF-8 overlong in three", [0xe0, 0x9f, 0xbf]),
    .string("UTF-8 overlong in four", [0xf0, 0x8f, 0xbf, 0xbf]),
    .string("UTF-8 surrogate high", [0xed, 0xa0, 0x80]),
    .string("UTF-8 surrogate low", [0xed, 0xbf, 0xbf]),
    .string("UTF-8 surrogate pair (CESU-8)", [0xed, 0xa0, 0xbd, 0xed, 0xb2, 0xa9]),
    .string("UTF-8 above U+10FFFF", [0xf4, 0x90, 0x80, 0x80]),
    .string("UTF-8 lead F5", [0xf5, 0x80, 0x80, 0x80]),
    .string("UTF-8 five bytes", [0xf8, 0x88, 0x80, 0x80, 0x80]),
    .string("UTF-8 byte FE", [0xfe]),
    .string("UTF-8 byte FF", [0xff]),
    .string("UTF-8 two-byte truncated by the quote", [0xc3]),
    .string("UTF-8 three-byte truncated by the quote", [0xe2, 0x82]),
    .string("UTF-8 four-byte truncated by the quote", [0xf0, 0x9f, 0xa6]),
    .string("UTF-8 continuation missing", [0xe2, 0x61, 0xac]),
    .string("UTF-8 Latin-1", [0x61, 0xe9, 0x61]),
    .string("UTF-8 valid, then a lone continuation", [0xc3, 0xa9, 0xa9]),
    TextCase("UTF-8 invalid outside strings", bytes: [0x5b, 0xff, 0x5d]),
]
