import DocumentModel
import FirestoreProto
import HearthHTTP
import Logging
import ServerTestSupport
import SwiftProtobuf
import Testing
import UTF8Text

@testable import FirestoreGRPC
@testable import HearthAPI

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
    func `The methods that count as reads, queries and streams exist`() {
        let services =
            [FirestoreService.service(FirestoreService.listen(sharing: EncodedDocumentCache())), HealthService.make(for: [])]
            + ReflectionService.names.map { ReflectionService.make($0, listing: []) }
        let streams = services.flatMap(\.methods).filter(\.value.isStream).map(\.key.string)
        #expect(Set(streams) == ActivityMetrics.streamMethods)
        let known = services.flatMap(\.methods.keys).map(\.string)
        // Methods of JSON-RPC have a dot in their names.
        let names = ActivityMetrics.readMethods.union(ActivityMetrics.queryMethods)
            .filter { !$0.utf8.contains(UInt8(ascii: ".")) }
        #expect(names.subtracting(known) == [])
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
