import DocumentModel
import Testing
import UTF8Text

@Suite("IDs")
struct IdentifierTests {
    static let legal = [
        "a", "hitchhiker", "does-not-exist", "a.b", "...", ".a", "a..", " ", "%2F", "\\", "a:b", "~*[]`\"'", "\u{7f}", "a\r\nb",
        "_", "__", "___", "__a", "a__", "_a__", "__id", "__id7", "__id7_", "_id7__", "é", "e\u{301}", "שלום", "岩澤", "🐵",
        "\u{202e}gnp.exe", "\u{2028}", "a\u{301}", "\u{ff0f}", "\u{2215}", String(repeating: "x", count: 1_500),
        String(repeating: "é", count: 750),
    ]

    @Test(arguments: legal)
    func `Valid IDs keep their bytes`(text: String) throws {
        #expect(try DocumentPath.ID(text).key.utf8.elementsEqual(text.utf8))
        #expect(try CollectionID(text).key.utf8.elementsEqual(text.utf8))
    }

    /// Invalid IDs, with a word of the expected message.
    static let illegal: [(text: String, word: String)] = [
        ("", "empty"),
        (String(repeating: "x", count: 1_501), "1501"),
        (String(repeating: "é", count: 751), "1502"),
        (".", "folder"),
        ("..", "folder"),
        ("/", "slash"),
        ("a/b", "slash"),
        ("../../etc/passwd", "slash"),
        // The slash and its combining mark are one Swift Character.
        ("..\u{2F}\u{301}x", "slash"),
        ("a/\u{200d}b", "slash"),
        ("a\0b", "NUL"),
        ("\0", "NUL"),
        ("____", "reserved"),
        ("__a__", "reserved"),
        ("__\n__", "reserved"),
        ("__\u{301}__", "reserved"),
        ("_____", "reserved"),
        ("__id__", "reserved"),
        ("__id-__", "reserved"),
        ("__id+7__", "reserved"),
        ("__id07__", "reserved"),
        ("__id-0__", "reserved"),
        ("__id-07__", "reserved"),
        ("__id7a__", "reserved"),
        ("__id 7__", "reserved"),
        ("__id٧__", "reserved"),
        ("__ID7__", "reserved"),
        ("__id9223372036854775808__", "reserved"),
        ("__id-9223372036854775809__", "reserved"),
        ("__id99999999999999999999999999__", "reserved"),
    ]

    @Test(arguments: illegal)
    func `Invalid IDs are rejected with the reason`(text: String, word: String) throws {
        let errors = [
            try #require(throws: StatusError.self) { try DocumentPath.ID(text) },
            try #require(throws: StatusError.self) { try CollectionID(text) },
        ]
        for error in errors {
            #expect(error.code == .invalidArgument)
            #expect(error.message.contains(word))
            #expect(error.message.utf8.count < 300)
        }
    }

    @Test(
        arguments: [
            "__id0__", "__id7__", "__id-2__", "__id9223372036854775807__", "__id-9223372036854775808__",
        ]
    )
    func `Numeric IDs are valid for documents, but not for collections`(text: String) throws {
        #expect(try DocumentPath.ID(text).description == text)
        #expect(throws: StatusError.self) { try CollectionID(text) }
    }

    @Test
    func `Numeric IDs sort first, then bytes`() throws {
        let pinned = [
            "__id-9223372036854775808__", "__id-2__", "__id7__", "__id12__", "__id9223372036854775807__", "12", "7", "A", "Aa",
            "__id", "__id1_", "_id1__", "a", "Sierpiński", "Łukasiewicz", "岩澤", "︒", "Ｐ", "🄟", "🐵",
        ]
        let ids = try pinned.map { try DocumentPath.ID($0) }
        // S sorts before the underscore; the two lists overlap only at their ends.
        let (latin, named) = (ids[..<13], ids[13...])
        #expect(Array(latin).shuffled().sorted() == Array(latin))
        #expect(Array(named).shuffled().sorted() == Array(named))
        #expect(try CollectionID("B") < CollectionID("a"))
    }

    @Test
    func `IDs are compared by bytes`() throws {
        #expect(try DocumentPath.ID("\u{e9}") != DocumentPath.ID("e\u{301}"))
        #expect(try DocumentPath.ID("\u{212b}") != DocumentPath.ID("\u{c5}"))
        #expect(try CollectionID("\u{e9}") != CollectionID("e\u{301}"))
        #expect(Set([try DocumentPath.ID("a"), try DocumentPath.ID("a"), try DocumentPath.ID("A")]).count == 2)
    }

    @Test
    func `Automatic IDs are unique strings of 20 letters and digits`() {
        let ids = (0..<1_000).map { _ in DocumentPath.ID.automatic() }
        #expect(Set(ids).count == ids.count)
        for id in ids {
            #expect(id.key.byteCount == 20)
            #expect(
                id.key.string.unicodeScalars.allSatisfy { $0.isASCII && ($0.properties.isAlphabetic || ("0"..."9").contains($0)) }
            )
        }
        #expect(Set(ids.flatMap { $0.key.utf8 }).count == 62)
    }
}
