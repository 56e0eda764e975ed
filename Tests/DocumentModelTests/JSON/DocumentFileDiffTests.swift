import DocumentModel
import Testing
import UTF8Text

@Suite("Document file diffs")
struct DocumentFileDiffTests {
    private let fields: MapValue = [
        "author": .string("Douglas Adams"),
        "cover": .map([
            "large": .string("https://covers.openlibrary.org/b/id/10555691-L.jpg"),
            "medium": .string("https://covers.openlibrary.org/b/id/10555691-M.jpg"),
            "small": .string("https://covers.openlibrary.org/b/id/10555691-S.jpg"),
        ]),
        "genres": .array((1...20).map { .string("genre number \($0)") }),
        "numberOfPages": .integer(816),
        "title": .string("The Ultimate Hitchhiker's Guide to the Galaxy"),
    ]

    /// Returns the diff of the two files without context lines.
    private func difference(_ change: (inout MapValue) throws -> Void) throws -> [String] {
        func lines(_ fields: MapValue) throws -> [String] {
            try DocumentFileFormatterTests.text(fields).utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
        }
        var changed = fields
        try change(&changed)
        return try lines(changed).difference(from: lines(fields)).map { step in
            switch step {
            case .remove(_, let line, _): "- " + line
            case .insert(_, let line, _): "+ " + line
            }
        }
    }

    @Test
    func `Changing a field changes only its line`() throws {
        #expect(
            try difference { $0["numberOfPages"] = .integer(817) } == [
                #"-   "numberOfPages": 816,"#, #"+   "numberOfPages": 817,"#,
            ]
        )
    }

    @Test(arguments: ["aaa", "m", "zzz"])
    func `Adding a field adds only its line, even after the last`(name: String) throws {
        #expect(try difference { $0[UTF8Key(name)] = .null } == [#"+   "\#(name)": null,"#])
    }

    @Test(arguments: ["author", "numberOfPages", "title"])
    func `Removing a field removes only its line`(name: String) throws {
        let lines = try difference { $0[UTF8Key(name)] = nil }
        #expect(lines.count == 1)
        #expect(lines.first?.utf8.starts(with: "-   \"\(name)\": ".utf8) == true)
    }

    @Test
    func `A nested change changes only its own line`() throws {
        let lines = try difference { $0.set(.string("gone"), at: try FieldPath("cover.medium")) }
        #expect(
            lines == [#"-     "medium": "https://covers.openlibrary.org/b/id/10555691-M.jpg","#, #"+     "medium": "gone","#]
        )
    }

    @Test
    func `Inserting an element before the last of a long array adds only its line`() throws {
        let lines = try difference { fields in
            guard case .array(var genres)? = fields["genres"] else { return }
            genres.insert(.string("new"), at: 3)
            fields["genres"] = .array(genres)
        }
        #expect(lines == [#"+     "new","#])
    }
}
