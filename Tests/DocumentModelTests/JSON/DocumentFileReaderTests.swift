import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Decoding document files")
struct DocumentFileReaderTests {
    private func read(_ text: String, id: String? = "hitchhiker") throws -> Document {
        try DocumentFile.decode(
            Array(text.utf8),
            in: CollectionPath("books"),
            id: id.map { try DocumentPath.ID($0) },
            file: "documents/books/hitchhiker.json"
        )
    }

    @Test
    func `Random documents round-trip`() throws {
        var random = RandomCodecFields(seed: SeededGenerator.currentSeed)
        for number in 0..<200 {
            let document = random.document()
            let storesID = number.isMultiple(of: 2)
            let bytes = DocumentFile.encode(document, storesID: storesID)
            let id = storesID ? nil : document.path.id
            let read = try DocumentFile.decode(bytes, in: document.path.collection, id: id, file: "f.json")
            #expect(read == document, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
            let encoded = try DocumentFile.decodeEncoded(bytes, in: document.path.collection, id: id, file: "f.json")
            #expect(encoded == EncodedDocument(document), "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
            #expect(DocumentFile.encode(read, storesID: storesID) == bytes, "HEARTH_TEST_SEED=\(SeededGenerator.currentSeed)")
        }
    }

    @Test(
        arguments: [
            #"{"$document":{"updateTime":"2014-09-09T08:00:47.5Z","createTime":"2014-09-09T08:00:47Z"},"b":2,"a":[1, 2]}"#,
            "\r\n{ \"b\" : 2 ,\r\n\"$document\": {\"createTime\": \"2014-09-09T10:00:47+02:00\",\r\n\"updateTime\": "
                + "\"2014-09-09T08:00:47.5000001Z\"},\t\"a\": [\n1,\n\n2 ] }\r\n\r\n",
            #"{"$map":{"b":2,"a":[1,2]},"$document":{"createTime":"2014-09-09T08:00:47Z","updateTime":"2014-09-09T08:00:47.5Z"}}"#,
            #"{"a":[1,2],"b":2,"$document":{"createTime":"2014-09-09T08:00:47Z","id":"hitchhiker","updateTime":"2014-09-09T08:00:47.5Z"}}"#,
        ]
    )
    func `Any layout and order of members is decoded`(text: String) throws {
        let expected = try DocumentFileFormatterTests.document(["a": .array([.integer(1), .integer(2)]), "b": .integer(2)])
        #expect(try read(text) == expected)
    }

    @Test
    func `The ID of a file with a shortened name is read from the file`() throws {
        let text = #"{"$document":{"id":"x","createTime":"2014-09-09T08:00:47Z","updateTime":"2014-09-09T08:00:47Z"}}"#
        #expect(try read(text, id: nil).path == DocumentPath("books/x"))
    }

    @Test
    func `A document of the maximum size can be read, even if its file is much larger`() throws {
        var value = Value.array((0..<2_000).map { _ in .map(["$": .null]) })
        for _ in 0..<9 { value = .array([.map(["$": value])]) }
        let document = try DocumentFileFormatterTests.document([
            "$": value, "controls": .string(String(repeating: "\u{1}", count: 1_000_000)),
        ])
        try Document.validate(document.fields, at: document.path)
        let bytes = DocumentFile.encode(document, storesID: false)
        #expect(try DocumentFile.decode(bytes, in: document.path.collection, id: document.path.id, file: "f") == document)
    }
}
