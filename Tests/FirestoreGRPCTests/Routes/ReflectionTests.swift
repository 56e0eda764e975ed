import DocumentModel
import FirestoreProto
import Gzip
import HearthAPI
import ServerTestSupport
import SwiftProtobuf
import Testing

@Suite("Health and reflection over gRPC", .timeLimit(.minutes(10)))
struct ReflectionTests {
    private static let services = [
        "google.firestore.v1.Firestore", "grpc.health.v1.Health", "grpc.reflection.v1.ServerReflection",
        "grpc.reflection.v1alpha.ServerReflection",
    ]

    @Test
    func `Health is reported without a key`() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.reader)
            try await withHTTP2Connection(to: server) { connection in
                for service in [""] + Self.services {
                    let request = ProtoHealthCheckRequest.make { $0.service = service }
                    let response = try await connection.grpc(
                        "/grpc.health.v1.Health/Check",
                        body: framed(try request.serializedBytes())
                    )
                    #expect(response.isOK)
                    #expect(try ProtoHealthCheckResponse(serializedBytes: response.messages[0]).status == .serving)
                }
                let unknown = ProtoHealthCheckRequest.make { $0.service = "google.datastore.v1.Datastore" }
                let response = try await connection.grpc(
                    "/grpc.health.v1.Health/Check",
                    body: framed(try unknown.serializedBytes())
                )
                #expect(response.code == .notFound)
                // Without a key, nobody makes the server decompress much.
                let bomb = try await connection.grpc(
                    "/grpc.health.v1.Health/Check",
                    body: framed(GzipCompressor.compress(Array(repeating: 0, count: 16 << 20)), flag: 1),
                    ["grpc-encoding: gzip"]
                )
                #expect(bomb.code == .resourceExhausted)
            }
        }
    }

    @Test(arguments: ["v1", "v1alpha"])
    func `A stream of requests is answered while it is open`(version: String) async throws {
        let path = "/grpc.reflection.\(version).ServerReflection/ServerReflectionInfo"
        let requests: [ProtoServerReflectionRequest] = [
            .make { $0.listServices = "" }, .make { $0.fileContainingSymbol = "google.firestore.v1.Firestore" },
            .make { $0.fileContainingSymbol = "google.firestore.v1.Target.QueryTarget" },
            .make { $0.fileByFilename = "google/protobuf/timestamp.proto" },
            .make { $0.fileContainingSymbol = "google.firestore.v1.Nothing" },
        ]
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", path, [("content-type", "application/grpc")], endsStream: false)
                try await connection.send(head)
                var responses: [ProtoServerReflectionResponse] = []
                for request in requests {
                    let message = framed(try request.serializedBytes())
                    try await connection.send(.init(0, stream: head.stream, message))
                    let received = try await connection.receive { streams -> GRPCResponse? in
                        let response = streams[head.stream].map { GRPCResponse($0) }
                        return response?.messages.count == responses.count + 1 ? response : nil
                    }
                    responses.append(try ProtoServerReflectionResponse(serializedBytes: received.messages[responses.count]))
                    #expect(responses.last?.originalRequest == request)
                }
                try await connection.send(.init(0, flags: 1, stream: head.stream))
                #expect(GRPCResponse(try await connection.response(on: head.stream)).isOK)
                #expect(responses[0].listServicesResponse.service.map(\.name) == Self.services)
                let files = try responses[1...3].map { response in
                    try Google_Protobuf_FileDescriptorProto(
                        serializedBytes: response.fileDescriptorResponse.fileDescriptorProto[0]
                    )
                }
                #expect(
                    files.map(\.name) == [
                        "google/firestore/v1/firestore.proto", "google/firestore/v1/firestore.proto",
                        "google/protobuf/timestamp.proto",
                    ]
                )
                #expect(files[0].service.first?.method.count == 17)
                #expect(responses[4].errorResponse.errorCode == 5)
            }
        }
    }

    @Test
    func `Reflection requires a key if there are any`() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.reader)
            try await withHTTP2Connection(to: server) { connection in
                let path = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo"
                let refused = try await connection.grpc(path, body: [])
                #expect(refused.code == .permissionDenied)
                let accepted = try await connection.grpc(path, body: [], ["authorization: Bearer \(key)"])
                #expect(accepted.isOK)
                let truncated = try await connection.grpc(path, body: [0, 0], ["authorization: Bearer \(key)"])
                #expect(truncated.code == .invalidArgument)
            }
        }
    }
}
