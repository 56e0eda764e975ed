import DocumentModel
import FirestoreProto
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("Documents over gRPC", .timeLimit(.minutes(10)))
struct DocumentMethodTests {
    @Test
    func `A document is created, read, updated and deleted`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let created = try #require(
                    try await connection.firestore(
                        "CreateDocument",
                        ProtoCreateDocumentRequest.make {
                            $0.parent = resourceName("")
                            $0.collectionID = "books"
                            $0.documentID = "x"
                            $0.document = .document("", ["a": 1, "b": 2])
                        },
                        returning: ProtoDocument.self
                    ).first
                )
                #expect(created.name == resourceName("books/x"))
                #expect(created.fields == entries(["a": 1, "b": 2]))
                #expect(created.createTime == created.updateTime)
                let read = ProtoGetDocumentRequest.make { $0.name = resourceName("books/x") }
                #expect(try await connection.firestore("GetDocument", read, returning: ProtoDocument.self) == [created])
                // REST returns the same document.
                #expect(
                    try await connection.request("GET", "/v1/" + resourceName("books/x")).text.contains(#"{"integerValue":"2"}"#)
                )
                let changed = try await connection.firestore(
                    "UpdateDocument",
                    ProtoUpdateDocumentRequest.make {
                        $0.document = .document("books/x", ["c": .map(["d": 3, "e": 4])])
                        $0.updateMask = .mask("b", "c.d")
                        $0.mask = .mask("a", "c")
                        $0.currentDocument = .exists(true)
                    },
                    returning: ProtoDocument.self
                )
                #expect(changed.first?.fields == entries(["a": 1, "c": .map(["d": 3])]))
                var past = read
                past.readTime = created.updateTime
                past.mask = .mask("b")
                let then = try await connection.firestore("GetDocument", past, returning: ProtoDocument.self)
                #expect(then.first?.fields == entries(["b": 2]))
                let delete = ProtoDeleteDocumentRequest.make {
                    $0.name = resourceName("books/x")
                    $0.currentDocument.updateTime = created.updateTime
                }
                let late = try await connection.firestore("DeleteDocument", delete)
                #expect(late.code == .failedPrecondition)
                let unconditional = ProtoDeleteDocumentRequest.make { $0.name = resourceName("books/x") }
                let deleted = try await connection.firestore(
                    "DeleteDocument",
                    unconditional,
                    returning: Google_Protobuf_Empty.self
                )
                #expect(deleted.count == 1)
                let missing = try await connection.firestore("GetDocument", read)
                #expect(missing.code == .notFound)
                #expect(missing.isTrailersOnly)
            }
        }
    }

    @Test
    func `A list has pages, masks and an order`() async throws {
        try await withServer { server in
            for id in 1...5 { try await server.set("books/\(id)", ["n": .integer(Int64(-id)), "m": .null]) }
            try await server.set("missing/x/books/y", [:])
            try await withHTTP2Connection(to: server) { connection in
                func list(_ build: (inout ProtoListDocumentsRequest) -> Void) async throws -> [ProtoListDocumentsResponse] {
                    var request = ProtoListDocumentsRequest.make {
                        $0.parent = resourceName("")
                        $0.collectionID = "books"
                        $0.pageSize = 2
                        build(&$0)
                    }
                    var pages: [ProtoListDocumentsResponse] = []
                    repeat {
                        pages += try await connection.firestore(
                            "ListDocuments",
                            request,
                            returning: ProtoListDocumentsResponse.self
                        )
                        request.pageToken = pages.last?.nextPageToken ?? ""
                    } while !request.pageToken.isEmpty
                    return pages
                }
                let pages = try await list { $0.mask = .mask("m") }
                #expect(pages.map(\.documents.count) == [2, 2, 1])
                #expect(pages.flatMap(\.documents).map(\.name) == (1...5).map { resourceName("books/\($0)") })
                #expect(pages.first?.documents.first?.fields.map(\.key) == ["m"])
                let ordered = try await list { $0.orderBy = "n" }
                #expect(ordered.flatMap(\.documents).map(\.name) == (1...5).reversed().map { resourceName("books/\($0)") })
                let withMissing = try await list {
                    $0.collectionID = "missing"
                    $0.showMissing = true
                }
                #expect(withMissing.flatMap(\.documents) == [.document("missing/x")])
                let all = try await list { $0.collectionID = "" }
                #expect(all.flatMap(\.documents).count == 5)
                let ids = try await connection.firestore(
                    "ListCollectionIds",
                    ProtoListCollectionIdsRequest.make { $0.parent = resourceName("missing/x") },
                    returning: ProtoListCollectionIdsResponse.self
                )
                #expect(ids.first?.collectionIds == ["books"])
            }
        }
    }

    @Test
    func `A page of large documents stays below the message limit of clients`() async throws {
        try await withServer { server in
            for id in 0..<6 {
                try await server.set("large/\(id)", ["text": .string(String(repeating: "x", count: 900_000))])
            }
            try await withHTTP2Connection(to: server) { connection in
                for order in ["", "text"] {
                    let response = try await connection.firestore(
                        "ListDocuments",
                        ProtoListDocumentsRequest.make {
                            $0.parent = resourceName("")
                            $0.collectionID = "large"
                            $0.orderBy = order
                        }
                    )
                    #expect(response.isOK)
                    #expect((2_700_000..<4_000_000).contains(response.messages.first?.count ?? 0))
                }
            }
        }
    }

    @Test
    func `Several documents are read at one time, existing ones first`() async throws {
        try await withServer { server in
            try await server.set("books/a", ["n": .integer(1), "m": .integer(2)])
            try await server.set("books/c", [:])
            try await withHTTP2Connection(to: server) { connection in
                let responses = try await connection.firestore(
                    "BatchGetDocuments",
                    ProtoBatchGetDocumentsRequest.make {
                        $0.database = databaseName
                        $0.documents = ["a", "b", "c", "a"].map { resourceName("books/\($0)") }
                        $0.mask = .mask("n")
                        $0.newTransaction.readOnly = .init()
                    },
                    returning: ProtoBatchGetDocumentsResponse.self
                )
                #expect(responses.map(\.found.name) == [resourceName("books/a"), resourceName("books/c"), ""])
                #expect(responses.map(\.missing) == ["", "", resourceName("books/b")])
                #expect(responses.first?.found.fields == entries(["n": 1]))
                #expect(Set(responses.map(\.readTime.seconds)).count == 1)
                #expect(responses.map(\.transaction.isEmpty) == [false, true, true])
            }
        }
    }
}
