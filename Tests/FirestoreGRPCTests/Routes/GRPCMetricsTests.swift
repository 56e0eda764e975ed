import DocumentModel
import FirestoreProto
import HearthAPI
import HearthHTTP
import Logging
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@Suite("Metrics of gRPC calls", .timeLimit(.minutes(10)))
struct GRPCMetricsTests {
    @Test
    func `Calls are counted by method and status, and methods that do not exist as one`() async throws {
        try await withServer { server in
            let samples = try await withHTTP2Connection(to: server) { connection in
                try await server.set("books/x", [:])
                for name in ["books/x", "books/y"] {
                    _ = try await connection.firestore(
                        "GetDocument",
                        ProtoGetDocumentRequest.make { $0.name = resourceName(name) }
                    )
                }
                _ = try await connection.firestore("Guessed", ProtoGetDocumentRequest())
                let response = try await connection.request("GET", "/metrics")
                return String(decoding: response.body, as: UTF8.self)
            }
            #expect(samples.contains("\nhearth_grpc_calls_total{method=\"GetDocument\",code=\"OK\"} 1\n"))
            #expect(samples.contains("\nhearth_grpc_calls_total{method=\"GetDocument\",code=\"NOT_FOUND\"} 1\n"))
            #expect(samples.contains("\nhearth_grpc_calls_total{method=\"other\",code=\"UNIMPLEMENTED\"} 1\n"))
            #expect(samples.contains("\nhearth_grpc_call_seconds_count{method=\"GetDocument\"} 2\n"))
            #expect(!samples.contains("Guessed"))
        }
    }

    @Test
    func `The access log names the method and the status of a call`() async throws {
        let log = EntryLog()
        let configuration = HTTPServerConfiguration.standard
            .with(\.accessLogger, Logger(label: "access") { _ in log.handler })
        try await withServer(configuration) { server in
            _ = try await withHTTP2Connection(to: server) { connection in
                try await connection.firestore("GetDocument", ProtoGetDocumentRequest.make { $0.name = resourceName("books/y") })
            }
            let entry = try await log.next()
            #expect(entry.metadata["url.path"]?.description == "/google.firestore.v1.Firestore/GetDocument")
            #expect(entry.metadata["rpc.method"]?.description == "GetDocument")
            #expect(entry.metadata["rpc.status"]?.description == "NOT_FOUND")
        }
    }
}
