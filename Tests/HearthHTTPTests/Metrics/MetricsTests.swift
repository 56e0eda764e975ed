import DocumentModel
import DocumentStore
import Foundation
import HearthAPI
import ServerTestSupport
import TestSupport
import Testing

@testable import HearthHTTP

@Suite("Metrics over HTTP", .timeLimit(.minutes(10)))
struct MetricsTests {
    private static let json = "Content-Type: application/json"

    /// The samples of a scrape, by name and labels.
    private func scrape(_ server: InProcessServer, _ fields: [String] = []) async throws -> [String: Double] {
        let response = try await withConnection(to: server) { try await $0.send("GET", "/metrics", fields) }
        #expect(response.status == 200)
        let samples = response.body.split(separator: "\n").filter { !$0.hasPrefix("#") }.map { line in
            let parts = line.split(separator: " ")
            return (String(parts[0]), Double(parts[1]) ?? .nan)
        }
        return Dictionary(uniqueKeysWithValues: samples)
    }

    /// The samples of a scrape in which a metric of the store has a value.
    ///
    /// The server samples its store, too. A sample that it began earlier can be recorded after ours.
    private func scrape(_ server: InProcessServer, until name: String, is value: Double) async throws -> [String: Double] {
        while true {
            await server.context.sampleMetrics()
            let samples = try await scrape(server)
            if samples[name] == value { return samples }
        }
    }

    private func call(_ server: InProcessServer, _ body: String) async throws {
        _ = try await withConnection(to: server) { try await $0.send("POST", "/rpc", [Self.json], body: body) }
    }

    @Test
    func `The response has exactly the content type that Prometheus expects, and OpenMetrics on demand`() async throws {
        try await withServer { server in
            let text = try await withConnection(to: server) { try await $0.send("GET", "/metrics", ["Accept: */*"]) }
            #expect(text["content-type"] == "text/plain; version=0.0.4; charset=utf-8")
            let accept = "Accept: application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2"
            let open = try await withConnection(to: server) { try await $0.send("GET", "/metrics", [accept]) }
            #expect(open["content-type"] == "application/openmetrics-text; version=1.0.0; charset=utf-8")
            #expect(open.body.hasSuffix("# EOF\n"))
        }
    }

    @Test
    func `A scrape needs a key where keys are required, and one that is not restricted to collections`() async throws {
        try await withServer { server in
            let reader = try await server.makeKey(.reader)
            let restricted = try await server.makeKey(.reader, collections: ["books"])
            let none = try await withConnection(to: server) { try await $0.send("GET", "/metrics", []) }
            #expect(none.status == 401)
            let wrong = try await withConnection(to: server) {
                try await $0.send("GET", "/metrics", ["Authorization: Bearer \(restricted)"])
            }
            #expect(wrong.status == 403)
            let samples = try await scrape(server, ["Authorization: Bearer \(reader)"])
            #expect(samples["hearth_auth_failures_total"] == 1)
            #expect(samples[#"hearth_http_requests_total{route="/metrics",method="GET",code="4xx"}"#] == 2)
        }
    }

    @Test
    func `End users cannot scrape`() async throws {
        try await withServer(
            rules: "service cloud.firestore { match /databases/{d}/documents { match /{p=**} { allow read; } } }"
        ) {
            server in
            let response = try await withConnection(to: server) { try await $0.send("GET", "/metrics", []) }
            #expect(response.status == 401)
        }
    }

    @Test
    func `Requests are counted by the pattern of their route, never by their path`() async throws {
        try await withServer { server in
            for path in [
                "/health", "/secret/path?token=abc", "/rpc/", "/v1/projects/p/databases/(default)/documents/books/secret",
            ] {
                _ = try await withConnection(to: server) { try await $0.send("GET", path, []) }
            }
            _ = try await withConnection(to: server) { try await $0.send("PROPFIND", "/health", []) }
            let response = try await withConnection(to: server) { try await $0.send("GET", "/metrics", []) }
            #expect(!response.body.contains("secret") && !response.body.contains("abc"))
            let samples = try await scrape(server)
            #expect(samples[#"hearth_http_requests_total{route="/health",method="GET",code="2xx"}"#] == 1)
            #expect(samples[#"hearth_http_requests_total{route="/health",method="other",code="4xx"}"#] == 1)
            #expect(samples[#"hearth_http_requests_total{route="other",method="GET",code="4xx"}"#] == 2)
            #expect(samples[#"hearth_http_requests_total{route="/rpc",method="POST",code="2xx"}"#] == 0)
            #expect(samples[#"hearth_http_request_seconds_count{route="/health"}"#] == 2)
        }
    }

    @Test
    func `Calls are counted by method and status, and methods that do not exist as one`() async throws {
        try await withServer { server in
            try await call(server, #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#)
            try await call(server, #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"a/b"}}"#)
            try await call(server, #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":5}}"#)
            try await call(server, #"[{"jsonrpc":"2.0","id":1,"method":"no.such"},{"jsonrpc":"2.0","method":"nor.this"}]"#)
            let samples = try await scrape(server)
            #expect(samples[#"hearth_rpc_calls_total{method="server.info",code="OK"}"#] == 1)
            #expect(samples[#"hearth_rpc_calls_total{method="documents.get",code="NOT_FOUND"}"#] == 1)
            #expect(samples[#"hearth_rpc_calls_total{method="documents.get",code="INVALID_ARGUMENT"}"#] == 1)
            #expect(samples[#"hearth_rpc_calls_total{method="other",code="UNIMPLEMENTED"}"#] == 2)
            #expect(samples[#"hearth_rpc_call_seconds_count{method="documents.get"}"#] == 2)
            #expect(samples[#"hearth_rpc_calls_total{method="keys.list",code="OK"}"#] == 0)
        }
    }

    @Test
    func `A stream counts as a request, but has no duration`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { stream in
                try await stream.send("GET /watch?collection=books HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n")
                let head = try await stream.responseHead()
                #expect(head.status == 200)
                let samples = try await scrape(server)
                #expect(samples["hearth_watch_streams"] == 1)
                #expect(samples[#"hearth_http_requests_total{route="/watch",method="GET",code="2xx"}"#] == 1)
                #expect(samples[#"hearth_http_request_seconds_count{route="/watch"}"#] == 0)
                try #require(samples["hearth_http_connections"]).isAtLeast(2)
            }
        }
    }

    @Test
    func `The targets of streams with several are counted until the streams end`() async throws {
        try await withServer { server in
            #expect(try await scrape(server)["hearth_listen_targets"] == 0)
            try await withConnection(to: server) { stream in
                let body = #"{"targets":[{"id":1,"collection":"books"},{"id":2,"document":"books/b"}]}"#
                try await stream.send(RawConnection.request("POST", "/watch", [Self.json], body: body))
                #expect(try await stream.responseHead().status == 200)
                while try await scrape(server)["hearth_listen_targets"] != 2 {}
            }
            while try await scrape(server)["hearth_listen_targets"] != 0 {}
        }
    }

    @Test
    func `Commits and the state of the store are reported`() async throws {
        let metrics = ServerMetrics()
        try await withServer(metrics: metrics) { server in
            try await server.set("books/a", [:])
            try await call(
                server,
                #"{"jsonrpc":"2.0","id":1,"method":"documents.create","params":{"collection":"books","id":"a","fields":{}}}"#
            )
            let sequence = Double(server.context.store.position.lastSequence.rawValue)
            let samples = try await scrape(server, until: "hearth_sequence", is: sequence)
            #expect(samples["hearth_commits_total"] == 1)
            #expect(samples["hearth_writes_total"] == 1)
            #expect(samples[#"hearth_commit_aborts_total{reason="precondition"}"#] == 1)
            #expect(samples[#"hearth_commit_aborts_total{reason="contention"}"#] == 0)
            #expect(samples["hearth_commit_seconds_count"] == 1)
            #expect(samples["hearth_journal_sync_seconds_count"] == 1)
            #expect(samples["hearth_commit_batch_size_sum"] == 1)
            #expect(samples["hearth_writable"] == 1)
            #expect(samples["hearth_damaged_documents"] == 0)
            let sized = try await scrape(server, until: "hearth_documents", is: 1)
            let size = try await server.context.store.size(of: nil)
            #expect(sized["hearth_document_bytes"] == Double(size.byteCount))
            try #require(samples["hearth_disk_free_bytes"]).isAtLeast(1)
            try #require(samples["hearth_journal_bytes"]).isAtLeast(1)
            try server.removeDocuments()
            _ = try await scrape(server, until: "hearth_writable", is: 0)
            try server.restoreDocuments()
        }
    }

    @Test
    func `A document that a read finds damaged is reported until it is written again`() async throws {
        try await withServer { server in
            try await server.set("books/a", [:])
            try server.write("{", toFile: "documents/books/a.json")
            try await call(server, #"{"jsonrpc":"2.0","id":1,"method":"query.run","params":{"collection":"books"}}"#)
            _ = try await scrape(server, until: "hearth_damaged_documents", is: 1)
            try FileManager.default.removeItem(atPath: server.folder + "/documents/books/a.json")
            try await server.set("books/a", [:])
            _ = try await scrape(server, until: "hearth_damaged_documents", is: 0)
        }
    }

    @Test(.enabled(if: FileManager.default.isExecutableFile(atPath: "/usr/bin/promtool")))
    func `Prometheus' own checker finds nothing to complain of`() async throws {
        try await withServer { server in
            await server.context.sampleMetrics()
            let response = try await withConnection(to: server) { try await $0.send("GET", "/metrics", []) }
            let file = server.folder + "/metrics.txt"
            try server.write(response.body, toFile: "metrics.txt")
            let status = try ChildProcess.run("/bin/sh", ["-c", "promtool check metrics < '\(file)'"])
            #expect(status == .code(0))
        }
    }
}

extension Double {
    fileprivate func isAtLeast(_ minimum: Double) {
        #expect(self >= minimum)
    }
}
