import DocumentModel
import HearthHTTP
import JSONRPC
import ServerTestSupport
import Testing
import UTF8Text

@testable import FirestoreREST
@testable import HearthAPI

@Suite("Metrics of REST calls", .timeLimit(.minutes(10)))
struct RESTMetricsTests {
    private static let path = "/v1/projects/p/databases/(default)/documents"

    private func scrape(_ server: InProcessServer) async throws -> String {
        try await withConnection(to: server) { try await $0.send("GET", "/metrics", []) }.body
    }

    @Test
    func `Calls are counted by method and status, with their durations`() async throws {
        try await withServer { server in
            try await server.set("books/x", [:])
            try await withConnection(to: server) { connection in
                for id in ["x", "y"] { _ = try await connection.firestore("GET", "/books/\(id)") }
                let query = #"{"structuredQuery":{"from":[{"collectionId":"books"}]}}"#
                #expect(try await connection.firestore("POST", ":runQuery", query).status == 200)
            }
            let samples = try await scrape(server)
            #expect(samples.contains("\nhearth_rest_calls_total{method=\"GetDocument\",code=\"OK\"} 1\n"))
            #expect(samples.contains("\nhearth_rest_calls_total{method=\"GetDocument\",code=\"NOT_FOUND\"} 1\n"))
            #expect(samples.contains("\nhearth_rest_calls_total{method=\"RunQuery\",code=\"OK\"} 1\n"))
            #expect(samples.contains("\nhearth_rest_call_seconds_count{method=\"GetDocument\"} 2\n"))
        }
    }

    @Test
    func `A body that is not well-formed HTTP is a fault of the client, and its call has no duration`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST \(Self.path):runQuery HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                        + "Transfer-Encoding: chunked\r\n\r\nzz\r\n"
                )
                #expect(try await connection.response().status == 400)
            }
            let samples = try await scrape(server)
            #expect(samples.contains("\nhearth_rest_calls_total{method=\"RunQuery\",code=\"INTERNAL\"} 0\n"))
            #expect(samples.contains("\nhearth_rest_calls_total{method=\"RunQuery\",code=\"INVALID_ARGUMENT\"} 1\n"))
            #expect(!samples.contains("\nhearth_rest_call_seconds_count{method=\"RunQuery\"} 1\n"))
        }
    }

    @Test
    func `The methods that count as reads and queries exist`() {
        let names = ActivityMetrics.readMethods.union(ActivityMetrics.queryMethods)
        let known = FirestoreCall.methodNames + HearthMethods.table.methods.map(\.name.string)
        #expect(names.subtracting(known) == [])
        #expect(ActivityMetrics.streamMethods.isDisjoint(with: known))
    }
}
