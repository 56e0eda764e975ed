import DocumentModel
import StrictJSON
import Testing

@Suite("What a change of a document changes in its file")
struct FileDifferenceTests {
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

    /// The lines that only one of the two files has, in order, marked like a diff.
    private func difference(_ change: (inout MapValue) throws -> Void) throws -> [String] {
        func lines(_ fields: MapValue) throws -> [String] {
            try FileLayoutTests.text(fields).utf8.split(separator: UInt8(ascii: "\n")).map { String(Substring($0)) }
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

    @Test("Changing a field changes its line only")
    func changed() throws {
        #expect(
            try difference { $0["numberOfPages"] = .integer(817) } == [
                #"-   "numberOfPages": 816,"#, #"+   "numberOfPages": 817,"#,
            ]
        )
    }

    @Test("Adding a field adds its line only, also after the last", arguments: ["aaa", "m", "zzz"])
    func added(name: String) throws {
        #expect(try difference { $0[UTF8Key(name)] = .null } == [#"+   "\#(name)": null,"#])
    }

    @Test("Removing a field removes its line only", arguments: ["author", "numberOfPages", "title"])
    func removed(name: String) throws {
        let lines = try difference { $0[UTF8Key(name)] = nil }
        #expect(lines.count == 1)
        #expect(lines.first?.utf8.starts(with: "-   \"\(name)\": ".utf8) == true)
    }

    @Test("A change deep inside changes the line that it is on")
    func nested() throws {
        let lines = try difference { $0.set(.string("gone"), at: try FieldPath("cover.medium")) }
        #expect(
            lines == [#"-     "medium": "https://covers.openlibrary.org/b/id/10555691-M.jpg","#, #"+     "medium": "gone","#]
        )
    }

    @Test("An element that is put before the last of a long array adds its line only")
    func element() throws {
        let lines = try difference { fields in
            guard case .array(var genres)? = fields["genres"] else { return }
            genres.insert(.string("new"), at: 3)
            fields["genres"] = .array(genres)
        }
        #expect(lines == [#"+     "new","#])
    }
}
