import DocumentModel
import FirestoreProto
import Foundation
import HearthAPI
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("End users of gRPC", .timeLimit(.minutes(10))) struct EndUserStreamTests {
    private static let rules = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{id} {
              allow read: if request.auth.uid == resource.data.owner;
              allow create: if request.auth.uid == request.resource.data.owner;
            }
            match /drops/{id} { allow create, update; }
          }
        }
        """

    private static func headers(_ token: String) -> [(String, String)] {
        [("authorization", "Bearer \(token)")]
    }

    private func withNotes(
        _ body: @escaping @Sendable (TestIssuer, InProcessServer) async throws -> Void
    ) async throws {
        let issuer = TestIssuer()
        try await withServer(rules: Self.rules, endUsers: issuer.endUsers()) { server in
            try await server.set("notes/a", ["owner": .string("alice")])
            try await server.set("notes/b", ["owner": .string("bob")])
            try await body(issuer, server)
        }
    }

    @Test func `Calls are decided by the rules`() async throws {
        try await withNotes { issuer, server in
            try await withHTTP2Connection(to: server) { connection in
                let alice = "Authorization: Bearer \(issuer.token("alice"))"
                let calls: [(String, any Message, StatusCode?)] = [
                    ("GetDocument", ProtoGetDocumentRequest.make { $0.name = resourceName("notes/a") }, nil),
                    ("GetDocument", ProtoGetDocumentRequest.make { $0.name = resourceName("notes/b") }, .permissionDenied),
                    (
                        "Commit",
                        ProtoCommitRequest.make {
                            $0.database = databaseName
                            $0.writes = [.set("notes/c", ["owner": "alice"])]
                        }, nil
                    ),
                    (
                        "Commit",
                        ProtoCommitRequest.make {
                            $0.database = databaseName
                            $0.writes = [.set("notes/d", ["owner": "alice"]), .set("notes/e", ["owner": "bob"])]
                        }, .permissionDenied
                    ),
                    (
                        "ListCollectionIds",
                        ProtoListCollectionIdsRequest.make { $0.parent = databaseName + "/documents" }, .permissionDenied
                    ),
                    (
                        "PartitionQuery",
                        ProtoPartitionQueryRequest.make {
                            $0.parent = databaseName + "/documents"
                            $0.partitionCount = 2
                        }, .permissionDenied
                    ),
                    (
                        "GetDocument",
                        ProtoGetDocumentRequest.make {
                            $0.name = resourceName("notes/a")
                            $0.readTime = Google_Protobuf_Timestamp(date: Date())
                        }, .permissionDenied
                    ),
                ]
                for (method, request, code) in calls {
                    let response = try await connection.firestore(method, request, [alice])
                    #expect(response.code == code && response.isOK == (code == nil), "\(method) \(response.message)")
                }
                let absent = try await connection.firestore(
                    "GetDocument",
                    ProtoGetDocumentRequest.make { $0.name = resourceName("notes/d") }
                )
                #expect(absent.code == .permissionDenied)
            }
        }
    }

    @Test func `An expired token is UNAUTHENTICATED, which makes clients get a new one; a forged one is not`() async throws {
        try await withNotes { issuer, server in
            try await withHTTP2Connection(to: server) { connection in
                let request = ProtoGetDocumentRequest.make { $0.name = resourceName("notes/a") }
                let expired = issuer.token("alice", lifetime: -3_600)
                let forged = issuer.token("alice", signature: [1, 2, 3])
                for (token, code) in [(expired, StatusCode.unauthenticated), (forged, .permissionDenied)] {
                    let response = try await connection.firestore("GetDocument", request, ["Authorization: Bearer \(token)"])
                    #expect(response.code == code)
                    let listener = try await connection.listen(to: .documents("notes/a", id: 2), headers: Self.headers(token))
                    #expect(try await listener.end(on: &connection).code == code)
                }
            }
        }
    }

    @Test func `A listener whose token expires ends with UNAUTHENTICATED`() async throws {
        try await withNotes { issuer, server in
            try await withHTTP2Connection(to: server) { connection in
                for seconds in TestIssuer.expiries {
                    let token = issuer.token("alice", acceptedFor: seconds)
                    var listener = try await connection.listen(to: .documents("notes/a", id: 2), headers: Self.headers(token))
                    let snapshot = try? await listener.snapshot(on: &connection)
                    if snapshot == nil, seconds != TestIssuer.expiries.last { continue }
                    #expect(snapshot?.contains("notes/a in 2") == true)
                    #expect(try await listener.end(on: &connection).code == .unauthenticated)
                    break
                }
            }
        }
    }

    @Test func `A target that the rules do not allow fails alone, at the start and later`() async throws {
        try await withNotes { issuer, server in
            try await withHTTP2Connection(to: server) { connection in
                var listener = try await connection.listen(
                    to: .documents("notes/b", id: 4),
                    .documents("notes/a", id: 2),
                    headers: Self.headers(issuer.token("alice"))
                )
                let messages = try await listener.messages(on: &connection, upTo: "notes/a in 2")
                #expect(messages.contains("remove 4 because of 7"))
                try await server.set("notes/a", ["owner": .string("bob"), "text": .string("secret")])
                let end = try await listener.messages(on: &connection, upTo: "remove 2 because of 7")
                #expect(!end.contains { $0.contains("notes/a") })
            }
        }
    }

    @Test func `A write stream is decided commit by commit`() async throws {
        try await withNotes { issuer, server in
            try await withHTTP2Connection(to: server) { connection in
                var writer = try await connection.open(
                    "Write",
                    ProtoWriteRequest.self,
                    ProtoWriteResponse.self,
                    Self.headers(issuer.token("alice"))
                )
                try await writer.send(.make { $0.database = databaseName }, on: &connection)
                _ = try await writer.receive(on: &connection)
                try await writer.send(.make { $0.writes = [.set("notes/c", ["owner": "alice"])] }, on: &connection)
                #expect(try await writer.receive(on: &connection).hasCommitTime)
                try await writer.send(.make { $0.writes = [.set("notes/d", ["owner": "bob"])] }, on: &connection)
                #expect(try await writer.end(on: &connection).code == .permissionDenied)
            }
        }
    }

    @Test func `Who may write but not read gets what it has written`() async throws {
        try await withNotes { issuer, server in
            try await server.set("drops/x", ["secret": .string("of others")])
            try await withConnection(to: server) { connection in
                let response = try await connection.send(
                    "PATCH",
                    "/v1/projects/p/databases/(default)/documents/drops/x?updateMask.fieldPaths=n",
                    ["Authorization: Bearer \(issuer.token("alice"))", "Content-Type: application/json"],
                    body: #"{"fields": {"n": {"integerValue": "1"}}}"#
                )
                #expect(response.status == 200)
                #expect(response.body.contains(#""integerValue":"1""#) && !response.body.contains("secret"))
            }
        }
    }
}
