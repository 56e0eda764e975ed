import TestSupport
import Testing
import UTF8Text

@Suite("UTF-8 keys")
struct UTF8KeyTests {
    @Test(
        arguments: [
            ("\u{e9}", "e\u{301}"),
            ("K", "\u{212a}"),
            ("\u{c5}", "\u{212b}"),
            ("\u{3a9}", "\u{2126}"),
            (";", "\u{37e}"),
        ]
    )
    func `Canonically equivalent strings are different keys`(left: String, right: String) {
        #expect(left == right)
        #expect(UTF8Key(left) != UTF8Key(right))
        #expect(Set([UTF8Key(left), UTF8Key(right)]).count == 2)
        #expect((UTF8Key(left) < UTF8Key(right)) != (UTF8Key(right) < UTF8Key(left)))
    }

    @Test
    func `Keys with equal bytes are equal, whatever the string's storage`() throws {
        let text = "prefix/\u{e9}-\u{1f9a6}-long enough not to be stored inline"
        let substring = text.dropFirst(7)
        let validated = try #require(UTF8Key(validating: Array(substring.utf8)))
        let keys = [UTF8Key(substring), UTF8Key(String(substring)), validated]
        for key in keys {
            #expect(key == keys[0])
            #expect(key.hashValue == keys[0].hashValue)
            #expect(!(key < keys[0]))
        }
        #expect(Set(keys).count == 1)
    }

    @Test
    func `Keys sort by bytes, and a prefix sorts first`() {
        let sorted: [UTF8Key] = [
            "", "\0", "A", "a", "a\0", "aa", "e\u{301}", "z", "\u{7f}", "\u{80}", "\u{e9}", "\u{d7ff}", "\u{e000}", "\u{ffff}",
            "\u{10000}",
            "\u{10ffff}",
        ]
        var generator = SeededGenerator()
        #expect(sorted.shuffled(using: &generator).sorted() == sorted)
    }

    @Test
    func `A slash before a combining mark is found`() {
        let key: UTF8Key = "..\u{2F}\u{301}x"
        #expect(key.utf8.contains(0x2f))
        #expect(Array(key.utf8) == [0x2e, 0x2e, 0x2f, 0xcc, 0x81, 0x78])
        #expect(key.byteCount == 6)
    }

    @Test
    func `Well-formed UTF-8 is a valid key, including NUL and noncharacters`() {
        #expect(UTF8Key(validating: [0x61, 0x00, 0x62])?.string == "a\0b")
        #expect(UTF8Key(validating: [0xef, 0xbf, 0xbf])?.string == "\u{ffff}")
        #expect(UTF8Key(validating: [])?.byteCount == 0)
    }

    @Test(
        arguments: [[0x80], [0xc0, 0xaf], [0xc3], [0xe0, 0x80, 0xaf], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0xff]]
            as [[UInt8]]
    )
    func `Ill-formed UTF-8 is rejected`(bytes: [UInt8]) {
        #expect(UTF8Key(validating: bytes) == nil)
        #expect(UTF8Key(validating: [0x61] + bytes + [0x62]) == nil)
    }

    @Test
    func `The description is the text`() {
        #expect("\(UTF8Key("books"))" == "books")
        #expect(UTF8Key("books").string == "books")
    }
}
