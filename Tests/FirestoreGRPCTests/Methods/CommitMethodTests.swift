import DocumentModel
import FirestoreProto
import Foundation
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("Commits and transactions over gRPC", .timeLimit(.minutes(10)))
struct CommitMethodTests {
    private static func get(_ path: String) -> ProtoGetDocumentRequest {
        .make { $0.name = resourceName(path) }
    }

    @Test
    func `A commit applies all kinds of writes and returns their results`() async throws {
        try await withServer { server in
            try await server.set("c/old", ["a": .integer(1), "b": .integer(2)])
            try await withHTTP2Connection(to: server) { connection in
                func transform(
                    _ field: String,
                    _ build: (inout ProtoDocumentTransform.FieldTransform) -> Void
                ) -> ProtoDocumentTransform.FieldTransform {
                    .make {
                        $0.fieldPath = field
                        build(&$0)
                    }
                }
                let writes: [ProtoWrite] = [
                    .make {
                        $0.update = .document("c/new", ["n": 1, "tags": .array("a", "b")])
                        $0.updateTransforms = [
                            transform("n") { $0.increment = 4 }, transform("max") { $0.maximum = .double(2.5) },
                            transform("min") { $0.minimum = 3 }, transform("time") { $0.setToServerValue = .requestTime },
                            transform("tags") { $0.appendMissingElements.values = ["c", "a"] },
                            transform("tags") { $0.removeAllFromArray.values = ["b"] },
                        ]
                        $0.currentDocument = .exists(false)
                    },
                    .make {
                        $0.update = .document("c/old", ["a": 5])
                        $0.updateMask = .mask("a", "b")
                    },
                    .make {
                        $0.transform.document = resourceName("c/legacy")
                        $0.transform.fieldTransforms = [transform("n") { $0.increment = 1 }]
                    },
                    .make {
                        $0.verify = resourceName("c/none")
                        $0.currentDocument = .exists(false)
                    },
                    .make { $0.delete = resourceName("c/none") },
                ]
                let response = try #require(
                    try await connection.firestore(
                        "Commit",
                        ProtoCommitRequest.make {
                            $0.database = databaseName
                            $0.writes = writes
                        },
                        returning: ProtoCommitResponse.self
                    ).first
                )
                #expect(response.writeResults.count == 5)
                #expect(response.writeResults.map(\.hasUpdateTime) == [true, true, true, false, false])
                let null = ProtoValue.make { $0.nullValue = .nullValue }
                let results = response.writeResults[0].transformResults
                #expect(results.count == 6)
                #expect(Array(results[..<3]) == [5, .double(2.5), 3])
                #expect(Array(results[4...]) == [null, null])
                let read = try await connection.firestore("GetDocument", Self.get("c/new"), returning: ProtoDocument.self)
                #expect(read.first?["tags"] == .array("a", "c"))
                #expect(read.first?["time"] == results[3])
                #expect(read.first?.updateTime == response.commitTime)
                let old = try await connection.firestore("GetDocument", Self.get("c/old"), returning: ProtoDocument.self)
                #expect(old.first?.fields == entries(["a": 5]))
            }
        }
    }

    @Test
    func `A failed precondition rejects the whole commit and names the write`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var second = ProtoWrite.set("c/b")
                second.currentDocument = .exists(true)
                let response = try await connection.firestore("Commit", ProtoCommitRequest.commit(.set("c/a"), second))
                #expect(response.code == .notFound)
                #expect(response.message == "No document to update: c/b (writes[1])")
                #expect(try await connection.firestore("GetDocument", Self.get("c/a")).code == .notFound)
            }
        }
    }

    @Test
    func `The writes of a batch succeed and fail on their own`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var failing = ProtoWrite.set("c/b")
                failing.currentDocument = .exists(true)
                let response = try #require(
                    try await connection.firestore(
                        "BatchWrite",
                        ProtoBatchWriteRequest.make {
                            $0.database = databaseName
                            $0.writes = [.set("c/a", ["n": 1]), failing, .set("c/c", ["__x__": 1])]
                        },
                        returning: ProtoBatchWriteResponse.self
                    ).first
                )
                #expect(response.status.map(\.code) == [0, 5, 3])
                #expect(response.writeResults.map(\.hasUpdateTime) == [true, false, false])
                #expect(try await connection.firestore("GetDocument", Self.get("c/a")).isOK)
            }
        }
    }

    @Test
    func `A transaction fails if what it has read has changed, and is retried`() async throws {
        try await withServer { server in
            try await server.set("c/d", ["n": .integer(1)])
            try await withHTTP2Connection(to: server) { connection in
                let begin = ProtoBeginTransactionRequest.make { $0.database = databaseName }
                let begun = try await connection.firestore(
                    "BeginTransaction",
                    begin,
                    returning: ProtoBeginTransactionResponse.self
                )
                let transaction = try #require(begun.first?.transaction)
                var read = Self.get("c/d")
                read.transaction = transaction
                #expect(try await connection.firestore("GetDocument", read).isOK)
                try await server.set("c/d", ["n": .integer(2)])
                var commit = ProtoCommitRequest.commit(.set("c/d", ["n": 3]))
                commit.transaction = transaction
                #expect(try await connection.firestore("Commit", commit).code == .aborted)

                var query = ProtoRunQueryRequest.run(.query("c"))
                query.newTransaction.readWrite.retryTransaction = transaction
                let found = try await connection.firestore("RunQuery", query, returning: ProtoRunQueryResponse.self)
                #expect(found.map(\.hasDocument) == [false, true])
                commit.transaction = try #require(found.first?.transaction)
                #expect(try await connection.firestore("Commit", commit).isOK)
                // It has ended.
                #expect(try await connection.firestore("Commit", commit).code == .invalidArgument)
            }
        }
    }

    @Test
    func `A transaction is rolled back`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let begin = ProtoBeginTransactionRequest.make {
                    $0.database = databaseName
                    $0.options.readOnly = .init()
                }
                let begun = try await connection.firestore(
                    "BeginTransaction",
                    begin,
                    returning: ProtoBeginTransactionResponse.self
                )
                let rollback = ProtoRollbackRequest.make {
                    $0.database = databaseName
                    $0.transaction = begun.first?.transaction ?? .init()
                }
                #expect(try await connection.firestore("Rollback", rollback).isOK)
                var read = Self.get("c/d")
                read.transaction = rollback.transaction
                #expect(try await connection.firestore("GetDocument", read).code == .invalidArgument)
                let nothing = ProtoRollbackRequest.make { $0.database = databaseName }
                #expect(try await connection.firestore("Rollback", nothing).message == "transaction is required.")
            }
        }
    }
}
