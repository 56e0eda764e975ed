import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// A server whose calls have always waited too long.
@Suite("Time in queues", .timeLimit(.minutes(10)))
struct QueueTimeTests {
    private static let json = "Content-Type: application/json"

    @Test
    func `A call that has waited too long is refused before it is executed; health checks and metrics are not`() async throws {
        try await withServer(limits: ServiceLimits(queueTime: .nanoseconds(1))) { server in
            try await withConnection(to: server) { connection in
                let write = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{}}}"#
                for body in [write, "[\(write)]"] {
                    let refused = try await connection.send("POST", "/rpc", [Self.json], body: body)
                    #expect(refused.status == 503)
                    #expect(refused["retry-after"] == "1" || refused["retry-after"] == "2")
                    let error = try #require(try JSONText(Array(refused.body.utf8)).root["error"])
                    #expect(error["code"]?.number == .integer(14))
                    #expect(error["data"]?["status"]?.string == "UNAVAILABLE")
                    #expect(error["data"]?["executed"]?.boolean == false)
                    #expect(error["data"]?["requestId"]?.string == refused["x-request-id"])
                    guard case .integer(let milliseconds)? = error["data"]?["retryAfterMilliseconds"]?.number else {
                        Issue.record("There is no delay")
                        continue
                    }
                    #expect((800...1_200).contains(milliseconds))
                }
                let path = "/v1/projects/p/databases/(default)/documents/a/b"
                let refused = try await connection.send("PATCH", path, [Self.json], body: #"{"fields":{}}"#)
                #expect(refused.status == 503 && refused["retry-after"] != nil && refused.body.contains("\"UNAVAILABLE\""))
                let details = try JSONText(Array(refused.body.utf8)).root["error"]?["details"]?.elements.map(Array.init)
                #expect(details?.first?["@type"]?.string == "type.googleapis.com/google.rpc.RequestInfo")
                #expect(details?.first?["requestId"]?.string == refused["x-request-id"])
                #expect(try await server.context.store.document(at: .init("a/b"), readTime: nil) == nil)
                #expect(try await connection.send("GET", "/health/ready").status == 200)
                let metrics = try await connection.send("GET", "/metrics")
                #expect(metrics.status == 200)
                #expect(metrics.body.contains("\nhearth_shed_total{reason=\"queue_time\"} 3\n"))
            }
        }
    }

    @Test
    func `Waits in the queues of the store are measured`() async throws {
        let metrics = ServerMetrics()
        try await withServer(limits: ServiceLimits(queueTime: .seconds(3_600)), metrics: metrics) { server in
            try await withConnection(to: server) { connection in
                let call = { (method: String, params: String) in
                    #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":{\#(params)}}"#
                }
                for (method, params) in [
                    ("documents.set", #""path":"a/b","fields":{"n":1}"#), ("documents.list", #""collection":"a""#),
                    ("query.run", #""collection":"a""#),
                ] {
                    let body = try await connection.call(call(method, params))
                    #expect(body.contains("\"result\""), "\(body)")
                }
                let text = try await connection.send("GET", "/metrics").body
                for queue in ["commit", "scan", "query"] {
                    let line = text.split(separator: "\n").first {
                        $0.hasPrefix("hearth_queue_seconds_count{queue=\"\(queue)\"}")
                    }
                    #expect(line.map { !$0.hasSuffix(" 0") } == true, "\(queue)")
                }
                #expect(text.contains("\nhearth_shed_total{reason=\"queue_time\"} 0\n"))
            }
        }
    }
}
