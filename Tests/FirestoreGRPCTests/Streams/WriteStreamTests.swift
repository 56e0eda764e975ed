import DocumentModel
import FirestoreProto
import Foundation
import HearthAPI
import ServerTestSupport
import SwiftProtobuf
import Testing

@Suite("Write streams", .timeLimit(.minutes(10)))
struct WriteStreamTests {
    private typealias Writer = OpenStream<ProtoWriteRequest, ProtoWriteResponse>

    private static func get(_ path: String) -> ProtoGetDocumentRequest {
        .make { $0.name = resourceName(path) }
    }

    /// Opens a stream and completes its handshake.
    private static func open(on connection: inout HTTP2Connection) async throws -> Writer {
        var writer = try await connection.open("Write", ProtoWriteRequest.self, ProtoWriteResponse.self)
        try await writer.send(.make { $0.database = databaseName }, on: &connection)
        let handshake = try await writer.receive(on: &connection)
        #expect(!handshake.streamID.isEmpty && !handshake.streamToken.isEmpty)
        #expect(handshake.writeResults.isEmpty && !handshake.hasCommitTime)
        return writer
    }

    @Test
    func `Each request is a commit, answered in order`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var writer = try await Self.open(on: &connection)
                for number in 0..<10 {
                    let request = ProtoWriteRequest.make {
                        $0.streamToken = Data([1])
                        $0.writes = [
                            .set("books/a", ["n": ProtoValue(integerLiteral: Int64(number))]),
                            .make {
                                $0.update.name = resourceName("books/sum")
                                $0.updateMask = .init()
                                $0.updateTransforms = [
                                    .make {
                                        $0.fieldPath = "n"
                                        $0.increment = ProtoValue(integerLiteral: Int64(number))
                                    },
                                    .make {
                                        $0.fieldPath = "list"
                                        $0.appendMissingElements = .make { $0.values = [1] }
                                    },
                                ]
                            },
                            .delete("books/none"),
                        ]
                    }
                    try await writer.send(request, on: &connection)
                }
                var sum: Int64 = 0
                var tokens: Set<Data> = []
                for number in 0..<10 {
                    let response = try await writer.receive(on: &connection)
                    sum += Int64(number)
                    #expect(response.writeResults.count == 3 && response.hasCommitTime)
                    #expect(tokens.insert(response.streamToken).inserted)
                    // One for each transform; null for the array.
                    #expect(
                        response.writeResults[1].transformResults.map(\.valueType) == [
                            .integerValue(sum), .nullValue(.nullValue),
                        ]
                    )
                    #expect(!response.writeResults[2].hasUpdateTime)
                }
                let found = try await connection.firestore("GetDocument", Self.get("books/a"), returning: ProtoDocument.self)
                #expect(found[0]["n"] == 9)
                // Clients say goodbye.
                try await writer.send(.init(), on: &connection)
                #expect(try await !writer.receive(on: &connection).streamToken.isEmpty)
                try await writer.close(on: &connection)
                #expect(try await writer.end(on: &connection).isOK)
            }
        }
    }

    @Test
    func `A failed commit ends the stream, and nothing behind it is applied`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var writer = try await Self.open(on: &connection)
                let failing = ProtoWrite.make {
                    $0.update = .document("books/missing")
                    $0.currentDocument = .exists(true)
                }
                try await writer.send(.make { $0.writes = [.set("books/before")] }, on: &connection)
                try await writer.send(.make { $0.writes = [.set("books/with"), failing] }, on: &connection)
                try await writer.send(.make { $0.writes = [.set("books/after")] }, on: &connection)
                #expect(try await writer.receive(on: &connection).writeResults.count == 1)
                #expect(try await writer.end(on: &connection).code == .notFound)
                for (path, code) in [("before", nil), ("with", StatusCode.notFound), ("after", .notFound)] {
                    #expect(try await connection.firestore("GetDocument", Self.get("books/\(path)")).code == code)
                }
            }
        }
    }

    @Test
    func `A transaction of a mobile client verifies what it has read`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                try await connection.commit(.set("books/read"))
                let read = try await connection.firestore("GetDocument", Self.get("books/read"), returning: ProtoDocument.self)[0]
                let transaction = ProtoWriteRequest.make {
                    $0.writes = [
                        .set("books/a"),
                        .make {
                            $0.verify = read.name
                            $0.currentDocument = .make { $0.updateTime = read.updateTime }
                        },
                    ]
                }
                var writer = try await Self.open(on: &connection)
                try await writer.send(transaction, on: &connection)
                #expect(try await writer.receive(on: &connection).writeResults.count == 2)
                try await connection.commit(.set("books/read", ["changed": 1]))
                try await writer.send(transaction, on: &connection)
                #expect(try await writer.end(on: &connection).code == .failedPrecondition)
            }
        }
    }

    @Test
    func `Invalid requests end the stream with a status`() async throws {
        let first: [ProtoWriteRequest] = [
            .init(), .make { $0.database = "books" },
            .make {
                $0.database = databaseName
                $0.writes = [.set("books/a")]
            },
            .make {
                $0.database = databaseName
                $0.streamID = "1"
            },
        ]
        let later: [ProtoWriteRequest] = [
            .make { $0.streamID = "1" }, .make { $0.database = "projects/q/databases/d" }, .make { $0.writes = [.init()] },
        ]
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                for request in first {
                    let writer = try await connection.open("Write", ProtoWriteRequest.self, ProtoWriteResponse.self)
                    try await writer.send(request, on: &connection)
                    #expect(try await writer.end(on: &connection).code == .invalidArgument)
                }
                for request in later {
                    let writer = try await Self.open(on: &connection)
                    try await writer.send(request, on: &connection)
                    #expect(try await writer.end(on: &connection).code == .invalidArgument)
                }
            }
        }
    }

    @Test
    func `A reader has no write stream`() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.reader)
            try await withHTTP2Connection(to: server) { connection in
                let writer = try await connection.open(
                    "Write",
                    ProtoWriteRequest.self,
                    ProtoWriteResponse.self,
                    [("authorization", "Bearer \(key)")]
                )
                #expect(try await writer.end(on: &connection).code == .permissionDenied)
            }
        }
    }
}
