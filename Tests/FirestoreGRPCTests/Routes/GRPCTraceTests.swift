import FirestoreProto
import HearthHTTP
import ServerTestSupport
import SpanRecording
import SwiftProtobuf
import Testing
import Tracing

@Suite("Traces of gRPC calls", .timeLimit(.minutes(10)))
struct GRPCTraceTests {
    @Test
    func `A call has a span in that of its request, with its method and status`() async throws {
        let log = SpanLog()
        try await withServer(.standard.with(\.tracer, log.tracer(sampleRatio: 1))) { server in
            try await withHTTP2Connection(to: server) { connection in
                let request = ProtoGetDocumentRequest.make { $0.name = resourceName("a/secret") }
                _ = try await connection.firestore("GetDocument", request)
                let spans = try await log.nextRequest()
                let service = "google.firestore.v1.Firestore"
                #expect(spans.map(\.name) == ["\(service)/GetDocument", "POST /\(service)/*"])
                #expect(spans[0].parentID == spans.last?.trace.spanID)
                let attributes = "\(spans[0].attributes)"
                for text in ["grpc", "NOT_FOUND"] { #expect(attributes.contains(text)) }
                #expect(!attributes.contains("secret"))
                _ = try await connection.firestore("Guessed", ProtoGetDocumentRequest())
                let guessed = try await log.nextRequest()
                #expect(guessed.map(\.name) == ["_OTHER", "POST /google.firestore.v1.Firestore/*"])
                // By OpenTelemetry's conventions, a method that does not exist is an error of the server.
                #expect(guessed[0].status?.code == .error)
            }
        }
    }
}
