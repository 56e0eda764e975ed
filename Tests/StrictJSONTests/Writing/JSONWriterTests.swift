import StrictJSON
import Testing
import UTF8Text

@Suite("JSON writer")
struct JSONWriterTests {
    private func written(_ write: (inout JSONWriter) -> Void) -> String {
        var writer = JSONWriter()
        write(&writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    @Test
    func `Commas and colons are inserted`() {
        let text = written { writer in
            writer.beginObject()
            writer.key("a")
            writer.beginArray()
            writer.endArray()
            writer.key(UTF8Key("b"))
            writer.beginArray()
            writer.null()
            writer.boolean(true)
            writer.boolean(false)
            writer.beginObject()
            writer.endObject()
            writer.beginArray()
            writer.integer(1)
            writer.endArray()
            writer.raw(#"{"spliced" : 1}"#.utf8)
            writer.string("s")
            writer.endArray()
            writer.key("c")
            writer.double(0.5)
            writer.endObject()
        }
        #expect(text == #"{"a":[],"b":[null,true,false,{},[1],{"spliced" : 1},"s"],"c":0.5}"#)
    }

    @Test(
        arguments: [
            ("", #""""#),
            ("a\"b\\c/", #""a\"b\\c/""#),
            ("\u{8}\t\n\u{c}\r", #""\b\t\n\f\r""#),
            ("\0\u{1}\u{b}\u{1f}\u{7f}", #""\u0000\u0001\u000b\u001f\u007f""#),
            ("\u{80}\u{2028}\u{e9}e\u{301}\u{feff}\u{1f9a6}<&>'", "\"\u{80}\u{2028}\u{e9}e\u{301}\u{feff}\u{1f9a6}<&>'\""),
            ("\"\u{301}", "\"\\\"\u{301}\""),
        ]
    )
    func `Only quotes, backslashes and ASCII control characters are escaped`(value: String, text: String) {
        #expect(Array(written { $0.string(value) }.utf8) == Array(text.utf8))
        let key = written { writer in
            writer.beginObject()
            writer.key(UTF8Key(value))
            writer.null()
            writer.endObject()
        }
        #expect(Array(key.utf8) == Array("{\(text):null}".utf8))
    }

    @Test(
        arguments: ["\"", "\u{1f}", "\u{7f}"] as [Unicode.Scalar]
    )
    func `A character is escaped at any alignment in a string`(scalar: Unicode.Scalar) throws {
        for before in 0..<20 {
            let value =
                String(repeating: "\u{80}", count: before / 2) + String(repeating: "a", count: before % 2) + String(scalar)
                + "bcdefghi"
            let bytes = Array(written { $0.string(value) }.utf8)
            #expect(bytes.contains(UInt8(ascii: "\\")))
            #expect(try JSONText(bytes).root.string.map { Array($0.utf8) } == Array(value.utf8))
        }
    }

    @Test
    func `Static keys are escaped`() {
        let text = written { writer in
            writer.beginObject()
            writer.key("a\"\n\u{e9}")
            writer.null()
            writer.endObject()
        }
        #expect(text == "{\"a\\\"\\n\u{e9}\":null}")
    }

    @Test(
        arguments: [(0, "0"), (-1, "-1"), (.max, "9223372036854775807"), (.min, "-9223372036854775808")] as [(Int64, String)]
    )
    func `Integers are written in decimal`(value: Int64, text: String) {
        #expect(written { $0.integer(value) } == text)
    }

    @Test(
        arguments: [
            (1, "1.0"), (-0.0, "-0.0"), (0, "0.0"), (0.1, "0.1"), (100, "100.0"), (1e15, "1000000000000000.0"), (1e16, "1e+16"),
            (1e300, "1e+300"), (.leastNonzeroMagnitude, "5e-324"), (1.7976931348623157e308, "1.7976931348623157e+308"),
            (9.9856482, "9.9856482"),
        ] as [(Double, String)]
    )
    func `Doubles are the shortest literals that round-trip, and never integer literals`(value: Double, text: String) throws {
        #expect(written { $0.double(value) } == text)
        #expect(JSONSample(try JSONText(text).root) == .double(value.bitPattern))
    }

    @Test
    func `The bytes written so far are readable`() {
        var writer = JSONWriter(reservingCapacity: 64)
        writer.beginArray()
        writer.integer(1)
        #expect(writer.bytes == Array("[1".utf8))
        writer.endArray()
        #expect(writer.finish() == Array("[1]".utf8))
    }
}
