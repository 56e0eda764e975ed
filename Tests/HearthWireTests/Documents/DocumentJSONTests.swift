import DocumentModel
import HearthWire
import StrictJSON
import Testing
import UTF8Text

@Suite("JSON of documents and lists")
struct DocumentJSONTests {
    private static let document =
        #"{"path":"books/hitchhiker","fields":{"numberOfPages":816,"published":{"$timestamp":"1979-10-12T00:00:00.000000Z"}},"#
        + #""createTime":"2024-02-29T12:00:00.000000Z","updateTime":"2024-02-29T12:00:01.000000Z"}"#
    private static let missing = #"{"path":"books/vogon-poetry"}"#
    private static let damaged =
        #"[{"message":"Expected a value.","path":"books/bad","file":{"path":"documents/books/bad.json","line":3,"column":7}},"#
        + #"{"message":"Not a document.","file":{"path":"documents/books/x"}}]"#

    @Test func `A document keeps its bytes`() throws {
        let document = try EncodedDocument(json: parsed(Self.document))
        #expect(document.path.string == "books/hitchhiker")
        #expect(document.updateTime.rfc3339 == "2024-02-29T12:00:01.000000Z")
        #expect(written { document.write(to: &$0) } == Self.document)
        #expect(try Document(json: parsed(Self.document)) == document.decoded())
    }

    @Test(arguments: [
        "{}", #"{"path":"books/a"}"#, #"{"path":"books","fields":{},"createTime":"2024-02-29T12:00:00Z","updateTime":""}"#,
        #"{"path":"books/a","fields":{},"createTime":1,"updateTime":"2024-02-29T12:00:00Z"}"#,
    ])
    func `An incomplete or invalid document is rejected`(text: String) throws {
        let json = try parsed(text)
        #expect(throws: StatusError.self) { try EncodedDocument(json: json) }
        #expect(throws: StatusError.self) { try Document(json: json) }
    }

    @Test func `A page has documents, missing documents and damage`() throws {
        let text = #"{"documents":[\#(Self.document),\#(Self.missing)],"nextPageToken":"AWhp","damaged":\#(Self.damaged)}"#
        let page = try DocumentListPage(json: parsed(text))
        #expect(page.documents.map(\.path.string) == ["books/hitchhiker", "books/vogon-poetry"])
        #expect(page.documents.last == .missing(try DocumentPath("books/vogon-poetry")))
        #expect(page.nextPageToken == "AWhp")
        #expect(page.damaged.map(\.code) == [.dataLoss, .dataLoss])
        #expect(page.damaged.map(\.path) == ["books/bad", nil])
        #expect(page.damaged.first?.file == .init(path: "documents/books/bad.json", line: 3, column: 7))
        #expect(page.damaged.last?.file == .init(path: "documents/books/x"))
        #expect(written { page.write(to: &$0) } == text)
    }

    @Test func `The last page without damage has documents only`() throws {
        let text = #"{"documents":[]}"#
        let page = try DocumentListPage(json: parsed(text))
        #expect(page.nextPageToken == nil && page.damaged.isEmpty)
        #expect(written { page.write(to: &$0) } == text)
        #expect(throws: StatusError.self) { try DocumentListPage(json: parsed("{}")) }
    }

    @Test(arguments: [
        #"{"collections":["books","samples"],"nextPageToken":"AXM","damaged":[{"message":"Not a collection."}]}"#,
        #"{"collections":[]}"#,
    ])
    func `A page of collections is read and written`(text: String) throws {
        let page = try CollectionListPage(json: parsed(text))
        #expect(written { page.write(to: &$0) } == text)
    }

    @Test func `A page with an invalid collection ID is rejected`() throws {
        #expect(throws: StatusError.self) { try CollectionListPage(json: parsed(#"{"collections":[1]}"#)) }
        #expect(throws: StatusError.self) { try CollectionListPage(json: parsed(#"{"collections":["a/b"]}"#)) }
    }

    @Test func `A batch read has an entry for each path`() throws {
        let text = #"{"documents":[\#(Self.missing),\#(Self.document)],"readTime":"2024-02-29T12:00:02.000000Z","epoch":"e"}"#
        let documents = try BatchGetResponse.documents(json: parsed(text))
        #expect(documents.map { $0?.path.string } == [nil, "books/hitchhiker"])
        let entries: [ListedDocument] = [
            .missing(try DocumentPath("books/vogon-poetry")), .document(try EncodedDocument(json: parsed(Self.document))),
        ]
        let response = BatchGetResponse(
            documents: entries,
            readTime: try Timestamp(rfc3339: "2024-02-29T12:00:02Z"),
            epoch: "e"
        )
        #expect(written { response.write(to: &$0) } == text)
    }

    @Test(arguments: ["", #","epoch":"e""#]) func `A query result is read and written`(epoch: String) throws {
        let time = #""readTime":"2024-02-29T12:00:02.000000Z""#
        let text = #"{"documents":[\#(Self.document)],\#(time)\#(epoch),"damaged":\#(Self.damaged)}"#
        let response = try QueryResponse(json: parsed(text))
        #expect(response.documents.map(\.path.string) == ["books/hitchhiker"])
        #expect(response.damaged.count == 2)
        #expect(written { response.write(to: &$0) } == text)
        #expect(throws: StatusError.self) { try QueryResponse(json: parsed(#"{"documents":[]}"#)) }
    }

    @Test func `An aggregation result is read and written`() throws {
        let text = #"{"result":{"field_1":2,"pages":816.5},"readTime":"2024-02-29T12:00:02.000000Z"}"#
        let response = try AggregationResponse(json: parsed(text))
        #expect(response.results["pages"] == .double(816.5))
        #expect(written { response.write(to: &$0) } == text)
        #expect(throws: StatusError.self) { try AggregationResponse(json: parsed("{}")) }
    }
}
