import DocumentModel
import FirestoreProto
import Gzip
import HearthAPI
import HearthHTTP
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("gRPC calls", .timeLimit(.minutes(10)))
struct GRPCRouteTests {
    private static let get = ProtoGetDocumentRequest.make { $0.name = resourceName("books/x") }

    @Test
    func `The content type selects gRPC`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.firestore("GetDocument", Self.get)
                #expect(response.head.status == 200)
                #expect(response.head["content-type"] == "application/grpc")
                for type in ["application/json", "application/grpc-web", "text/plain"] {
                    let other = try await connection.request(
                        "POST",
                        firestorePath("GetDocument"),
                        [("content-type", type)],
                        body: "{}"
                    )
                    #expect(other.status == 415)
                }
                #expect(try await connection.request("GET", firestorePath("GetDocument")).status == 405)
            }
        }
    }

    @Test(arguments: ["Get", "", "getDocument", "GetDocument/", "ExecutePipeline"])
    func `A method that the server doesn't have is unimplemented`(method: String) async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.firestore(method, Self.get)
                #expect(response.code == (method.isEmpty ? .notFound : .unimplemented))
                #expect(response.isTrailersOnly)
                #expect(!response.message.isEmpty)
            }
        }
    }

    @Test
    func `A service that the server doesn't have is not found, which clients report as unimplemented`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.grpc("/google.datastore.v1.Datastore/Lookup", body: framed([]))
                #expect(response.head.status == 404)
            }
        }
    }

    @Test
    func `Invalid bodies are rejected, and the connection stays usable`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let message: [UInt8] = try Self.get.serializedBytes()
                let bodies: [([UInt8], StatusCode)] = [
                    ([], .invalidArgument), ([0, 0], .invalidArgument), (framed(message).dropLast(), .invalidArgument),
                    (framed(message) + framed(message), .invalidArgument), (framed([0xFF, 0xFF]), .invalidArgument),
                    (framed([0x0A, 0x02, 0xC3, 0x28]), .invalidArgument), ([0, 0x7F, 0, 0, 0], .resourceExhausted),
                    (framed(message, flag: 1), .internal),
                ]
                for (body, code) in bodies {
                    let response = try await connection.grpc(firestorePath("GetDocument"), body: body)
                    #expect(response.code == code)
                    #expect(response.isTrailersOnly)
                }
                let unknownEncoding = try await connection.firestore("GetDocument", Self.get, ["grpc-encoding: snappy"])
                #expect(unknownEncoding.code == .unimplemented)
                #expect(unknownEncoding.head["grpc-accept-encoding"] == "identity,gzip")
                let invalidTimeout = try await connection.firestore("GetDocument", Self.get, ["grpc-timeout: soon"])
                #expect(invalidTimeout.code == .invalidArgument)
                #expect(try await connection.firestore("GetDocument", Self.get).code == .notFound)
            }
        }
    }

    @Test
    func `A compressed request is read`() async throws {
        try await withServer { server in
            try await server.set("books/x", ["a": .integer(1)])
            try await withHTTP2Connection(to: server) { connection in
                let message = GzipCompressor.compress(try Self.get.serializedBytes())
                let response = try await connection.grpc(
                    firestorePath("GetDocument"),
                    body: framed(message, flag: 1),
                    ["grpc-encoding: gzip", "grpc-timeout: 50S"]
                )
                #expect(response.isOK)
                #expect(try ProtoDocument(serializedBytes: response.messages[0])["a"] == 1)
            }
        }
    }

    @Test
    func `Without keys, any credential has all rights`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let commit = ProtoCommitRequest.commit(.set("books/x"))
                for fields in [[], ["Authorization: Bearer owner"], ["Authorization: Bearer e30.e30."]] {
                    let committed = try await connection.firestore("Commit", commit, fields)
                    #expect(committed.isOK)
                }
            }
        }
    }

    @Test
    func `With keys, other credentials are refused for good`() async throws {
        try await withServer { server in
            try await server.set("books/x", [:])
            let reader = try await server.makeKey(.reader)
            try await withHTTP2Connection(to: server) { connection in
                for fields in [[], ["Authorization: Bearer owner"], ["Authorization: Basic eA=="]] {
                    let response = try await connection.firestore("GetDocument", Self.get, fields)
                    // Listeners retry UNAUTHENTICATED forever.
                    #expect(response.code == .permissionDenied)
                    #expect(response.isTrailersOnly)
                    #expect(response.head.status == 200)
                }
                // Also once there have been too many.
                for _ in 0..<30 {
                    let response = try await connection.firestore("GetDocument", Self.get, ["Authorization: Bearer owner"])
                    #expect(response.code == .permissionDenied)
                }
                let key = ["Authorization: Bearer \(reader)"]
                let read = try await connection.firestore("GetDocument", Self.get, key)
                #expect(read.isOK)
                let commit = ProtoCommitRequest.commit(.set("books/x"))
                let written = try await connection.firestore("Commit", commit, key)
                #expect(written.code == .permissionDenied)
            }
        }
    }

    @Test
    func `A key that is limited to collections reads no others`() async throws {
        try await withServer { server in
            let key = ["Authorization: Bearer \(try await server.makeKey(.writer, collections: ["books"]))"]
            try await withHTTP2Connection(to: server) { connection in
                let missing = try await connection.firestore("GetDocument", Self.get, key)
                #expect(missing.code == .notFound)
                let other = ProtoRunQueryRequest.run(.query("secrets"))
                let found = try await connection.firestore("RunQuery", other, key)
                #expect(found.code == .permissionDenied)
                let verify = ProtoCommitRequest.commit(
                    .make {
                        $0.verify = resourceName("secrets/x")
                        $0.currentDocument = .exists(true)
                    }
                )
                let verified = try await connection.firestore("Commit", verify, key)
                #expect(verified.code == .permissionDenied)
                let elsewhere = ProtoGetDocumentRequest.make { $0.name = "projects/q/databases/d/documents/books/x" }
                let foreign = try await connection.firestore("GetDocument", elsewhere, key)
                #expect(foreign.code == .permissionDenied)
            }
        }
    }

    @Test
    func `Each project and database has its own documents`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let commit = ProtoCommitRequest.make {
                    $0.database = "projects/q/databases/d"
                    $0.writes = [.make { $0.update.name = "projects/q/databases/d/documents/books/x" }]
                }
                #expect(try await connection.firestore("Commit", commit).isOK)
                #expect(try await connection.firestore("GetDocument", Self.get).code == .notFound)
                let other = ProtoGetDocumentRequest.make { $0.name = "projects/q/databases/d/documents/books/x" }
                let found = try await connection.firestore("GetDocument", other, returning: ProtoDocument.self)
                #expect(found.first?.name == other.name)
            }
        }
    }

    @Test
    func `A request that is larger than the limit is rejected`() async throws {
        try await withServer(limits: ServiceLimits(maximumBodyBytes: 1 << 15)) { server in
            try await withHTTP2Connection(to: server) { connection in
                let commit = ProtoCommitRequest.commit(
                    .set("books/x", ["a": ProtoValue(stringLiteral: String(repeating: "x", count: 1 << 15))])
                )
                let response = try await connection.firestore("Commit", commit)
                #expect(response.code == .resourceExhausted)
            }
        }
    }
}
