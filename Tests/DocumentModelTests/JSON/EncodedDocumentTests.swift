import DocumentModel
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Encoded documents")
struct EncodedDocumentTests {
    private let document = try! Document(  // Cannot fail: a literal with valid components.
        path: DocumentPath("books/hitchhiker"),
        fields: [
            "title": .string("The Ultimate Hitchhiker's Guide"),
            "stats": .map(["product": .integer(12), "sum": .double(7), "deep": .map(["a": .null, "b": .null])]),
            "tags": .array([.map(["color": .string("#ec4be9")])]),
            "$own": .map(["$a": .integer(1), "b": .integer(2)]),
        ],
        createTime: Timestamp(rfc3339: "2014-09-09T08:00:47Z"),
        updateTime: Timestamp(rfc3339: "2014-09-09T08:00:47.5Z")
    )

    @Test
    func `The fields are compact JSON, sorted by name`() {
        let expected =
            #"{"$map":{"$own":{"$map":{"$a":1,"b":2}},"stats":{"deep":{"a":null,"b":null},"product":12,"sum":7.0},"#
            + ##""tags":[{"color":"#ec4be9"}],"title":"The Ultimate Hitchhiker's Guide"}}"##
        #expect(String(decoding: EncodedDocument(document).fieldsJSON, as: UTF8.self) == expected)
    }

    @Test
    func `A document is written with its path, fields and times`() throws {
        var writer = JSONWriter()
        let small = Document(
            path: document.path,
            fields: ["a": .timestamp(document.createTime)],
            createTime: document.createTime,
            updateTime: document.updateTime
        )
        EncodedDocument(small).write(to: &writer)
        let expected =
            #"{"path":"books/hitchhiker","fields":{"a":{"$timestamp":"2014-09-09T08:00:47.000000Z"}},"#
            + #""createTime":"2014-09-09T08:00:47.000000Z","updateTime":"2014-09-09T08:00:47.500000Z"}"#
        #expect(String(decoding: writer.bytes, as: UTF8.self) == expected)
    }

    @Test
    func `Single fields are decoded as in the whole document`() throws {
        let encoded = EncodedDocument(document)
        #expect(try encoded.fields(named: ["title", "missing"])["title"] == document.fields["title"])
        #expect(try encoded.fields(named: ["$own"])["$own"] == document.fields["$own"])
        var random = RandomCodecFields(seed: SeededGenerator.currentSeed)
        for _ in 0..<100 {
            let document = random.document()
            let names = document.fields.map(\.key)
            for name in names {
                let found = try EncodedDocument(document).fields(named: [name, "missing"])[name]
                #expect(found == document.fields[name], "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
            }
        }
    }

    @Test
    func `Random documents round-trip, and equal documents have equal bytes`() throws {
        var random = RandomCodecFields(seed: SeededGenerator.currentSeed)
        for _ in 0..<200 {
            let document = random.document()
            let encoded = EncodedDocument(document)
            let decoded = try encoded.decoded()
            #expect(decoded == document, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
            #expect(EncodedDocument(decoded) == encoded, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test(
        arguments: [
            ([], "{}"),
            (["missing"], "{}"),
            (["__name__"], "{}"),
            (["stats.missing"], "{}"),
            (["title.inside"], "{}"),
            (["tags.color"], "{}"),
            (["stats.product"], #"{"stats":{"product":12}}"#),
            (["stats.sum", "stats.deep.b"], #"{"stats":{"deep":{"b":null},"sum":7.0}}"#),
            (["stats.deep.a", "stats.deep"], #"{"stats":{"deep":{"a":null,"b":null}}}"#),
            (["stats.deep", "stats.deep.a", "stats.deep"], #"{"stats":{"deep":{"a":null,"b":null}}}"#),
            (["tags"], ##"{"tags":[{"color":"#ec4be9"}]}"##),
            (["`$own`.b"], #"{"$map":{"$own":{"b":2}}}"#),
            (["`$own`"], #"{"$map":{"$own":{"$map":{"$a":1,"b":2}}}}"#),
        ]
    )
    func `A mask keeps its fields and their parent maps`(paths: [String], fields: String) throws {
        let masked = try EncodedDocument(document).masked(paths.map { try FieldPath($0) })
        #expect(String(decoding: masked.fieldsJSON, as: UTF8.self) == fields)
        #expect(masked.path == document.path)
        #expect(masked.createTime == document.createTime)
        #expect(masked.updateTime == document.updateTime)
    }

    @Test(arguments: ["", "[]", "{\"a\":}", "{\"a\":{\"$b\":1}}"])
    func `Invalid encoded fields are reported as data loss`(fields: String) {
        let encoded = EncodedDocument(
            path: document.path,
            createTime: document.createTime,
            updateTime: document.updateTime,
            fieldsJSON: Array(fields.utf8)
        )
        let error = #expect(throws: StatusError.self) { try encoded.decoded() }
        #expect(error?.code == .dataLoss)
        #expect(error?.path == "books/hitchhiker")
    }
}
