import DocumentModel
import FirestoreBundles
import SyncEngine
import Testing
import UTF8Text

@Suite("Reading a bundle")
struct BundleReaderTests {
    private static let root = "projects/p/databases/(default)/documents"

    /// Returns a bundle with a metadata element and others.
    private static func bundle(documents count: Int, _ elements: String...) -> [UInt8] {
        let metadata = """
            {"metadata":{"id":"guide","createTime":"2026-01-02T03:04:05Z","version":1,"totalDocuments":\(count),"totalBytes":"9"}}
            """
        return ([metadata] + elements).flatMap { Array("\($0.utf8.count)\($0)".utf8) }
    }

    private static func metadata(of id: String, exists: Bool = true, queries: String = "[]") -> String {
        """
        {"documentMetadata":{"name":"\(root)/books/\(id)","readTime":"2026-01-02T03:04:05Z","exists":\(exists),"queries":\(queries)}}
        """
    }

    private static func document(_ id: String, fields: String = #"{"title":{"stringValue":"Die Brücke"}}"#) -> String {
        """
        {"document":{"name":"\(root)/books/\(id)","createTime":"2026-01-01T00:00:00Z","updateTime":"2026-01-02T00:00:00Z",\
        "fields":\(fields)}}
        """
    }

    private static func query(_ query: String, limitType: String = "FIRST") -> String {
        """
        {"namedQuery":{"name":"latest","bundledQuery":{"parent":"\(root)","structuredQuery":\(query),"limitType":"\(limitType)"},\
        "readTime":{"seconds":"1767323045","nanos":1000}}}
        """
    }

    private func read(_ bytes: [UInt8]) throws -> DocumentBundle {
        var reader = BundleReader()
        reader.append(bytes)
        while try reader.readElement() {}
        return try reader.finish()
    }

    @Test
    func `Documents, absences and queries are read, byte by byte or at once`() throws {
        let bytes = Self.bundle(
            documents: 2,
            Self.query(#"{"from":[{"collectionId":"books"}],"limit":{"value":10}}"#),
            Self.metadata(of: "a", queries: #"["latest"]"#),
            Self.document("a"),
            Self.metadata(of: "b", exists: false)
        )
        var reader = BundleReader()
        var counts: [Int] = []
        for byte in bytes {
            reader.append([byte])
            while try reader.readElement() { counts.append(reader.documentCount) }
        }
        #expect(counts == [0, 0, 0, 1, 2])
        for bundle in [try reader.finish(), try read(bytes)] {
            #expect(bundle.metadata.id == "guide")
            #expect(bundle.metadata.createTime == (try Timestamp(rfc3339: "2026-01-02T03:04:05Z")))
            #expect(bundle.metadata.documentCount == 2 && bundle.metadata.byteCount == 9)
            #expect(bundle.documents.map(\.document.path.string) == ["books/a", "books/b"])
            let versions = bundle.documents.map(\.document.version.rfc3339)
            #expect(versions == ["2026-01-02T00:00:00.000000Z", "2026-01-02T03:04:05.000000Z"])
            #expect(bundle.documents.map(\.document.isFound) == [true, false])
            #expect(bundle.documents.map(\.queries) == [["latest"], []])
            let named = try #require(bundle.queries.first).named
            #expect(named.name == "latest" && named.readTime.microseconds == 1_767_323_045_000_001)
            #expect(try named.query() == StructuredQuery(.collection(CollectionPath("books")), limit: .first(10)))
        }
    }

    @Test
    func `Values are read as protobuf.js and as Google's libraries write them`() throws {
        let fields = """
            {"a":{"integerValue":"7"},"b":{"integerValue":7},"c":{"doubleValue":"NaN"},"d":{"nullValue":"NULL_VALUE"},\
            "e":{"timestampValue":{"seconds":"1","nanos":500000000}},"f":{"timestampValue":"1970-01-01T00:00:01.5Z"},\
            "g":{"bytesValue":"AP8="},"h":{"referenceValue":"\(Self.root)/books/b"},"i":{"arrayValue":{}},"j":{"mapValue":{}}}
            """
        let bundle = try read(Self.bundle(documents: 1, Self.metadata(of: "a"), Self.document("a", fields: fields)))
        let time = try Timestamp(microseconds: 1_500_000)
        let expected: MapValue = [
            "a": .integer(7), "b": .integer(7), "c": .double(.nan), "d": .null, "e": .timestamp(time), "f": .timestamp(time),
            "g": .bytes([0, 255]), "h": .reference(try DocumentPath("books/b")), "i": .array([]), "j": .map([:]),
        ]
        guard case .found(let found, _)? = bundle.documents.first?.document.content else {
            Issue.record("Expected a document.")
            return
        }
        #expect(found == expected)
    }

    @Test
    func `A query equals the one that the application would make`() throws {
        let books = StructuredQuery.Source.collection(try CollectionPath("books"))
        let byName = """
            {"from":[{"collectionId":"books"}],"orderBy":[{"field":{"fieldPath":"__name__"},"direction":"ASCENDING"}]}
            """
        #expect(try read(Self.bundle(documents: 0, Self.query(byName))).queries.first?.named.query() == StructuredQuery(books))
        let last = #"{"from":[{"collectionId":"books"}],"orderBy":[{"field":{"fieldPath":"year"}}],"limit":3}"#
        let order = StructuredQuery.Order(.field(try FieldPath("year")))
        #expect(
            try read(Self.bundle(documents: 0, Self.query(last, limitType: "LAST"))).queries.first?.named.query()
                == StructuredQuery(books, orders: [order], limit: .last(3))
        )
        // Not the implied order.
        let descending = """
            {"from":[{"collectionId":"books"}],"orderBy":[{"field":{"fieldPath":"__name__"},"direction":"DESCENDING"}]}
            """
        #expect(try read(Self.bundle(documents: 0, Self.query(descending))).queries.first?.named.query().orders.count == 1)
    }

    @Test(arguments: [
        ([], "found no bytes"),
        (Array("{}".utf8), "in element 1 at byte 0: Expected the length of an element"),
        (Array("1234567890{}".utf8), "in element 1 at byte 0: Expected the length of an element"),
        (Array("5{\"a\":".utf8), "in element 1 at byte 0: Expected a JSON object"),
        (Array("9{\"a\":".utf8), "in element 1 at byte 0: Expected a whole element"),
        (Array("2{}".utf8), "in element 1 at byte 0: Expected one of metadata, namedQuery"),
        (bundle(documents: 1), "with 1 documents as its metadata says, found 0"),
        (bundle(documents: 0, #"{"unknown":{}}"#), #"in element 2 at byte 114: Invalid JSON payload received. Unknown name"#),
        (bundle(documents: 0, document("a")), "Expected the metadata of books/a before the document"),
        (bundle(documents: 1, metadata(of: "a")), "in element 3 at byte 258: Expected a document, found the end of the bundle"),
        (bundle(documents: 1, metadata(of: "a"), document("b")), "Expected the document books/a after its metadata"),
        (
            bundle(documents: 2, metadata(of: "a", exists: false), metadata(of: "a", exists: false)),
            "Expected books/a once, found it twice"
        ),
        (
            bundle(documents: 1, metadata(of: "a"), document("a", fields: #"{"n":{"integerValue":"x"}}"#)),
            "in element 3 at byte 258: Expected a 64-bit integer"
        ),
        (
            bundle(documents: 0, query(#"{"from":[{"collectionId":"books"}],"select":{"fields":[{"fieldPath":"a"}]}}"#)),
            "projection"
        ),
        (bundle(documents: 0, query(#"{"from":[{"collectionId":""}]}"#)), "at namedQuery.bundledQuery.structuredQuery.from[0]"),
    ])
    func `A malformed bundle is refused with the element, its offset and the reason`(bytes: [UInt8], reason: String) throws {
        let error = #expect(throws: StatusError.self) { try read(bytes) }
        #expect(error?.code == .invalidArgument || error?.code == .unimplemented)
        #expect(error?.message.contains(reason) == true, "\(error?.message ?? "")")
    }

    @Test
    func `Every truncated bundle is refused`() throws {
        let bytes = Self.bundle(documents: 1, Self.metadata(of: "a"), Self.document("a"))
        for count in 0..<bytes.count {
            #expect(throws: StatusError.self) { try read(Array(bytes.prefix(count))) }
        }
        #expect(try read(bytes).documents.count == 1)
    }
}
