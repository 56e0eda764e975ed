import DocumentModel
import FirestoreProto
import Foundation
import FuzzedInputs
import ServerTestSupport
import SwiftProtobuf
import TestSupport
import Testing
import UTF8Text

/// Random bodies for all methods. Whatever a client sends on a stream, it gets a status, and its other streams go on.
///
/// `HEARTH_RANDOM_INPUTS` sets the number of bodies.
@Suite("Random gRPC requests", .timeLimit(.minutes(60)))
struct RandomRequestTests {
    private static let count = (ProcessInfo.processInfo.environment["HEARTH_RANDOM_INPUTS"].flatMap { Int($0) } ?? 20_000) / 50
    private static let seed = SeededGenerator.currentSeed

    private static let methods = [
        "BatchGetDocuments", "BatchWrite", "BeginTransaction", "Commit", "CreateDocument", "DeleteDocument", "ExecutePipeline",
        "GetDocument", "ListCollectionIds", "ListDocuments", "Listen", "PartitionQuery", "Rollback", "RunAggregationQuery",
        "RunQuery", "UpdateDocument", "Write",
    ]

    /// Valid bodies to start from.
    private static func seeds() throws -> [[UInt8]] {
        let query = ProtoStructuredQuery.query("books") {
            $0.where = .make {
                $0.compositeFilter = .make {
                    $0.op = .or
                    $0.filters = [.field("a", .in, .array(1, "b")), .field("b", .greaterThan, .vector(1, 2))]
                }
            }
            $0.orderBy = [.make { $0.field = "a" }]
            $0.startAt = .make { $0.values = [.double(.nan)] }
            $0.limit = .init(5)
            $0.offset = 1
        }
        let write = ProtoWrite.make {
            $0.update = .document("books/a", ["m": .map(["b": .reference("books/b")]), "t": "text"])
            $0.updateMask = .mask("m.b", "t")
            $0.updateTransforms = [
                .make {
                    $0.fieldPath = "n"
                    $0.increment = .double(0.5)
                }
            ]
            $0.currentDocument = .exists(true)
        }
        let messages: [any Message] = [
            ProtoRunQueryRequest.run(query), ProtoCommitRequest.commit(write, .delete("books/b")),
            ProtoListenRequest.adding(.query(query, id: 2)), ProtoListenRequest.adding(.documents("books/a", id: 1)),
            ProtoWriteRequest.make { $0.database = databaseName },
            ProtoBatchGetDocumentsRequest.make {
                $0.database = databaseName
                $0.documents = [resourceName("books/a")]
                $0.newTransaction = .make { $0.readOnly.readTime = .init(seconds: 1_700_000_000, nanos: 7_000) }
            },
            ProtoListDocumentsRequest.make {
                $0.parent = resourceName("")
                $0.collectionID = "books"
                $0.pageToken = "AWE"
            },
            ProtoGetDocumentRequest.make { $0.name = resourceName("books/a") },
        ]
        return try messages.map { framed(try $0.serializedBytes()) }
    }

    @Test
    func `Random requests get a status, and the connection goes on`() async throws {
        let seeds = try Self.seeds()
        try await withServer { server in
            try await server.set("books/a", ["n": .integer(1)])
            try await withHTTP2Connection(to: server) { connection in
                var mutator = InputMutator(seed: Self.seed)
                for number in 0..<Self.count {
                    let body = mutator.next(mutating: seeds)
                    let method = Self.methods[number % Self.methods.count]
                    let response = try await connection.grpc(firestorePath(method), body: body)
                    // INTERNAL only for the flag of a message.
                    let isExpected = response.code != .internal || response.message.contains("compressed")
                    #expect(
                        response.isOK || response.code != nil && isExpected,
                        "HEARTH_TEST_SEED=\(Self.seed): \(method) \(body): \(response.message)"
                    )
                }
                #expect(connection.goAway == nil)
            }
        }
    }
}
