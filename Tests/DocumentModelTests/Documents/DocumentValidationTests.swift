import DocumentModel
import Testing
import UTF8Text

@Suite("Document validation")
struct DocumentValidationTests {
    private func validate(_ fields: MapValue) throws {
        try Document.validate(fields, at: DocumentPath("books/hitchhiker"))
    }

    /// Returns `levels` nested maps, or alternating maps and arrays.
    private static func nested(_ levels: Int, withArrays: Bool = false) -> Value {
        (0..<levels).reduce(.null) { inner, level in
            withArrays && level.isMultiple(of: 2) ? .array([inner]) : .map(["m": inner])
        }
    }

    /// Fields with a short description, which is printed for every test case.
    struct Fields: CustomTestStringConvertible, ExpressibleByDictionaryLiteral {
        let map: MapValue

        init(dictionaryLiteral elements: (UTF8Key, Value)...) {
            map = MapValue(elements.map { (key: $0.0, value: $0.1) })
        }

        var testDescription: String { map.keys.map { "\($0.string.prefix(20))" }.joined(separator: ", ") }
    }

    @Test(
        arguments: [
            [:],
            ["a": .null, "__a": .null, "a__": .null, "__": .null, "___": .null],
            ["a.b": .null, "é": .null, "e\u{301}": .null, "/": .null, "..": .null, "$map": .null, "\0": .null, " ": .null],
            ["a": .array([.map(["b": .array([.map(["c": .array([])])])]), .vector([1])])],
            ["a": nested(20)],
            ["a": nested(20, withArrays: true)],
            ["v": .vector(Array(repeating: 0, count: 2_048))],
            ["s": .string(String(repeating: "x", count: 1_048_400))],
            [UTF8Key(String(repeating: "x", count: 1_500)): .null],
            ["a": .array([.map([UTF8Key(String(repeating: "x", count: 1_500)): .null])])],
        ] as [Fields]
    )
    func `Fields that Firestore accepts are valid`(fields: Fields) throws {
        try validate(fields.map)
    }

    static let illegal: [(fields: Fields, field: String, words: String)] = [
        (["": .null], "``", "at least one byte"),
        (["a": .map(["": .null])], "a.``", "at least one byte"),
        (["____": .null], "____", "reserved"),
        (["a": .map(["__type__": .string("__vector__")])], "a.__type__", "reserved"),
        (["a b": .array([.null, .map(["c": .map(["__x__": .null])])])], "`a b`[1].c.__x__", "reserved"),
        (["a": .array([.array([])])], "a[0]", "cannot contain another array directly"),
        (
            ["tags": .array([.null, .map(["x": .array([.integer(1), .array([])])])])], "tags[1].x[1]",
            "cannot contain another array directly"
        ),
        (["a": nested(21)], "a" + String(repeating: ".m", count: 20), "at most 20"),
        (["a": nested(21, withArrays: true)], "a" + String(repeating: "[0].m", count: 10), "at most 20"),
        (["a": .vector(Array(repeating: 0, count: 2_049))], "a", "at most 2048 dimensions, found 2049"),
        (["a": .string(String(repeating: "x", count: 1_048_488))], "a", "at most 1048487 bytes, found 1048488"),
        (["a": .array([.bytes(Array(repeating: 0, count: 1_048_488))])], "a[0]", "at most 1048487 bytes, found 1048488"),
    ]

    @Test(arguments: illegal)
    func `Invalid fields are rejected with the document and the field`(fields: Fields, field: String, words: String) throws {
        let error = try #require(throws: StatusError.self) { try validate(fields.map) }
        #expect(error.code == .invalidArgument)
        #expect(error.path == "books/hitchhiker")
        #expect(error.field == field)
        #expect(error.message.contains(words), "\(error)")
        #expect(error.message.utf8.count < 300)
    }

    @Test
    func `Field names over 1,500 bytes are rejected, and not quoted in full`() throws {
        let name = UTF8Key(String(repeating: "x", count: 1_501))
        let error = try #require(throws: StatusError.self) { try validate(["a": .map([name: .null])]) }
        #expect(error.message.contains("at most 1500 bytes, found 1501"))
        #expect(error.field == "a." + String(repeating: "x", count: 80) + "…")
    }

    @Test
    func `Field paths over 1,500 bytes are rejected`() throws {
        let name = UTF8Key(String(repeating: "x", count: 750))
        try validate([name: .map([UTF8Key(String(repeating: "y", count: 749)): .null])])
        let error = try #require(throws: StatusError.self) { try validate([name: .map([name: .null])]) }
        #expect(error.message.contains("field path of at most 1500 bytes, found 1501"))
    }

    @Test
    func `Excessive nesting is rejected without recursing into it`() throws {
        let error = try #require(throws: StatusError.self) { try validate(["a": Self.nested(2_000, withArrays: true)]) }
        #expect(error.message.contains("at most 20"))
    }

    @Test
    func `A document of 1 MiB is valid, and one more byte is rejected`() throws {
        let path = try DocumentPath("a/b")
        let overhead = Document.size(of: ["a": .string(""), "b": .bytes([])], at: path)
        let text = Value.string(String(repeating: "x", count: 1_000_000))
        let rest = 1_048_576 - overhead - 1_000_000
        try Document.validate(["a": text, "b": .bytes(Array(repeating: 0, count: rest))], at: path)
        let error = try #require(throws: StatusError.self) {
            try Document.validate(["a": text, "b": .bytes(Array(repeating: 0, count: rest + 1))], at: path)
        }
        #expect(error.message.contains("at most 1048576 bytes, found 1048577"))
        #expect(error.field == nil)
    }

    @Test
    func `Paths that were built from IDs are validated`() throws {
        let long = try DocumentPath.ID(String(repeating: "x", count: 1_500))
        let (name, short) = (try CollectionID("c"), try DocumentPath.ID("d"))
        let tooLong = (0..<5).reduce(CollectionPath(parent: nil, id: name).document(short)) { path, _ in
            path.collection(name).document(long)
        }
        let tooDeep = (0..<100).reduce(CollectionPath(parent: nil, id: name).document(short)) { path, _ in
            path.collection(name).document(short)
        }
        for path in [tooLong, tooDeep] {
            let asName = try #require(throws: StatusError.self) { try Document.validate([:], at: path) }
            #expect(asName.path == path.string)
            let asReference = try #require(throws: StatusError.self) { try validate(["r": .reference(path)]) }
            #expect(asReference.field == "r")
        }
    }
}
