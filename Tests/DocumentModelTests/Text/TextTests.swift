import DocumentModel
import StrictJSON
import Testing

/// Bytes in headers and addresses.
@Suite struct TextTests {
    @Test(
        "A tag is found among those that a client lists, weak or not",
        arguments: [
            (#""00ff100000000001""#, true), (#"W/"00ff100000000001""#, true), (#""x" , W/"00ff100000000001" "#, true),
            ("*", true),
            ("\t*", true), ("", false), (#""00FF100000000001""#, false), ("00ff100000000001", false),
            (#""00ff1000000000010""#, false),
        ]
    )
    func tags(field: String, isListed: Bool) {
        let tag = EntityTag(digest: [0x00, 0xff, 0x10, 0, 0, 0, 0, 0x01, 0x99])
        #expect(tag.text == #""00ff100000000001""#)
        #expect(tag.isListed(in: field) == isListed)
    }

    @Test("Percent-encoding is undone to the bytes", arguments: [("%C3%a9+", "é+"), ("", ""), ("a%25b", "a%b")])
    func decoding(text: String, bytes: String) {
        #expect(PercentEncoding.decode(text.utf8) == Array(bytes.utf8))
    }

    @Test("Hexadecimal digits of either case are read, and small ones written")
    func hexadecimal() {
        #expect(Hexadecimal.decode("00fF1a".utf8) == [0x00, 0xff, 0x1a])
        #expect(Hexadecimal.encode([0x00, 0xff, 0x1a]) == "00ff1a")
    }

    @Test("Half a byte, and what is no digit, is not hexadecimal", arguments: ["0", "0g", "+1", "1 ", "١٢"])
    func refusedHexadecimal(text: String) {
        #expect(Hexadecimal.decode(text.utf8) == nil)
    }

    @Test("A % without two digits behind it is no percent-encoding", arguments: ["%", "%4", "%g0", "%0g", "%+1", "a%%41"])
    func refusedDecoding(text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
    }
}
