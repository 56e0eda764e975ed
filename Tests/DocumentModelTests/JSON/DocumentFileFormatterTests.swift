import DocumentModel
import TestSupport
import Testing
import UTF8Text

@Suite("Document file layout")
struct DocumentFileFormatterTests {
    static func document(_ fields: MapValue, id: String = "hitchhiker") throws -> Document {
        Document(
            path: try DocumentPath("books/\(id)"),
            fields: fields,
            createTime: try Timestamp(rfc3339: "2014-09-09T08:00:47Z"),
            updateTime: try Timestamp(rfc3339: "2014-09-09T08:00:47.5Z")
        )
    }

    static func text(_ fields: MapValue, storesID: Bool = false) throws -> String {
        String(decoding: DocumentFile.encode(try document(fields), storesID: storesID), as: UTF8.self)
    }

    static let metadata = """
          "$document": {
            "createTime": "2014-09-09T08:00:47.000000Z",
            "updateTime": "2014-09-09T08:00:47.500000Z"
          }
        }

        """

    @Test
    func `A document without fields has only metadata`() throws {
        #expect(try Self.text([:]) == "{\n" + Self.metadata)
    }

    @Test
    func `Fields come first, sorted by name, one per line`() throws {
        let text = try Self.text([
            "title": .string("The Hitchhiker's Guide to the Galaxy"),
            "numberOfPages": .integer(816),
            "rating": .double(5),
            "tags": .array([
                .map(["title": .string("fun"), "color": .string("#ec4be9")]),
                .map(["title": .string("series"), "color": .string("#b0f566")]),
            ]),
            "Zebra": .null,
            "é": .map([:]),
            "published": .timestamp(try Timestamp(rfc3339: "1979-10-12T00:00:00Z")),
            "place": .geoPoint(try GeoPoint(validatingLatitude: 53.553986, longitude: 9.9856482)),
            "genres": .array([.string("Sci-Fi"), .string("Comedy")]),
        ])
        let expected = """
            {
              "Zebra": null,
              "genres": ["Sci-Fi", "Comedy"],
              "numberOfPages": 816,
              "place": {"$geoPoint": {"latitude": 53.553986, "longitude": 9.9856482}},
              "published": {"$timestamp": "1979-10-12T00:00:00.000000Z"},
              "rating": 5.0,
              "tags": [{"color": "#ec4be9", "title": "fun"}, {"color": "#b0f566", "title": "series"}],
              "title": "The Hitchhiker's Guide to the Galaxy",
              "é": {},

            """
        #expect(text == expected + Self.metadata)
    }

    @Test
    func `Containers that don't fit their line are broken at every element, at any depth`() throws {
        let small = "https://covers.openlibrary.org/b/id/10555691-S.jpg"
        let large = "https://covers.openlibrary.org/b/id/10555691-L.jpg"
        let text = try Self.text([
            "cover": .map(["small": .string(small), "large": .string(large)]),
            "list": .array([
                .map(["href": .string(small), "rel": .array([.string(large), .string("canonical"), .integer(1)])]),
                .string("short"),
                .array([]),
                .map(["$ref": .string(small), "$size": .integer(3), "also": .string(large)]),
                .map(["$ref": .string(small)]),
            ]),
            "bytes": .bytes(Array(repeating: 0, count: 90)),
            "vector": .vector((0..<30).map { Double($0) + 0.5 }),
        ])
        let vector = (0..<30).map { "\($0).5" }.joined(separator: ", ")
        let expected = """
            {
              "bytes": {"$bytes": "\(String(repeating: "A", count: 120))"},
              "cover": {
                "large": "\(large)",
                "small": "\(small)"
              },
              "list": [
                {
                  "href": "\(small)",
                  "rel": ["\(large)", "canonical", 1]
                },
                "short",
                [],
                {"$map": {
                  "$ref": "\(small)",
                  "$size": 3,
                  "also": "\(large)"
                }},
                {"$map": {"$ref": "\(small)"}}
              ],
              "vector": {"$vector": [\(vector)]},

            """
        #expect(text == expected + Self.metadata)
    }

    @Test
    func `Fields with names that begin with a dollar sign are in $map beside the metadata`() throws {
        let text = try Self.text(["$timestamp": .map(["$vector": .array([.integer(1)])]), "b": .array([])])
        let expected = """
            {
              "$map": {
                "$timestamp": {"$map": {"$vector": [1]}},
                "b": []
              },

            """
        #expect(text == expected + Self.metadata)
        let single = try Self.text(["$timestamp": .array([.string("x")])])
        #expect(single == "{\n  \"$map\": {\n    \"$timestamp\": [\"x\"]\n  },\n" + Self.metadata)
    }

    @Test
    func `The ID is stored in a file with a shortened name`() throws {
        let document = try Self.document([:], id: "a\"b")
        let text = String(decoding: DocumentFile.encode(document, storesID: true), as: UTF8.self)
        #expect(text.utf8.starts(with: "{\n  \"$document\": {\n    \"id\": \"a\\\"b\",\n    \"createTime\"".utf8))
    }

    @Test(arguments: ["x", "é", "e\u{301}", "🐵"])
    func `A line has at most 100 columns with its comma, in scalars`(unit: String) throws {
        // `  "f": ["…"],` has twelve columns besides the string.
        let count = 88 / unit.unicodeScalars.count
        let filler = String(repeating: "-", count: 88 % unit.unicodeScalars.count)
        let fitting = String(repeating: unit, count: count) + filler
        #expect(try Self.text(["f": .array([.string(fitting)])]) == "{\n  \"f\": [\"\(fitting)\"],\n" + Self.metadata)
        let broken = try Self.text(["f": .array([.string(fitting + "-")])])
        #expect(broken == "{\n  \"f\": [\n    \"\(fitting)-\"\n  ],\n" + Self.metadata)
    }

    @Test
    func `Formatting encoded fields is equivalent to encoding the document`() throws {
        var random = RandomCodecFields(seed: SeededGenerator.currentSeed)
        for _ in 0..<100 {
            let document = random.document()
            let bytes = DocumentFile.encode(document, storesID: true)
            #expect(DocumentFile.encode(EncodedDocument(document), storesID: true) == bytes)
            #expect(try DocumentFile.encode(EncodedDocument(document).decoded(), storesID: true) == bytes)
        }
    }

    @Test(
        arguments: ["", "{", "[[[[", "}}}}", "\"", "{\"$map\":{", ",:,:\\"]
    )
    func `Formatting invalid JSON doesn't crash`(fields: String) throws {
        let document = try Self.document([:])
        let encoded = EncodedDocument(
            path: document.path,
            createTime: document.createTime,
            updateTime: document.updateTime,
            fieldsJSON: Array(fields.utf8)
        )
        _ = DocumentFile.encode(encoded, storesID: false)
    }
}
