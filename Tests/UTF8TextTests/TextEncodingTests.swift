import Testing
import UTF8Text

@Suite("Text encodings")
struct TextEncodingTests {
    @Test(arguments: [("%C3%a9+", "é+"), ("", ""), ("a%25b", "a%b")])
    func `Percent-encoding is decoded to bytes`(text: String, bytes: String) {
        #expect(PercentEncoding.decode(text.utf8) == Array(bytes.utf8))
    }

    @Test
    func `Hexadecimal digits of either case are decoded, and encoded in lower case`() {
        #expect(Hexadecimal.decode("00fF1a".utf8) == [0x00, 0xff, 0x1a])
        #expect(Hexadecimal.encode([0x00, 0xff, 0x1a]) == "00ff1a")
    }

    @Test(arguments: ["0", "0g", "+1", "1 ", "١٢"])
    func `Odd and non-ASCII digits are not valid hexadecimal`(text: String) {
        #expect(Hexadecimal.decode(text.utf8) == nil)
    }

    @Test(arguments: ["%", "%4", "%g0", "%0g", "%+1", "a%%41"])
    func `A % that is not followed by two digits is invalid`(text: String) {
        #expect(PercentEncoding.decode(text.utf8) == nil)
    }
}
