import DocumentModel
import HearthAPI
import HearthHTTP
import Logging
import ServerTestSupport
import Testing
import UTF8Text

@Suite("Access log and request IDs", .timeLimit(.minutes(10)))
struct AccessLogTests {
    private let log = EntryLog()

    private var configuration: HTTPServerConfiguration {
        .standard.with(\.accessLogger, Logger(label: "access") { [log] _ in log.handler })
    }

    private func call(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    @Test
    func `The end of each request is one entry, with its caller and methods, without query and secrets`() async throws {
        try await withServer(configuration) { server in
            let key = try await server.makeKey(.writer)
            let fields = ["Content-Type: application/json", "Authorization: Bearer \(key)"]
            let response = try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST",
                    "/rpc?token=secret",
                    fields,
                    body: "[" + call("documents.set", #"{"path":"a/b","fields":{"x":"contents"}}"#) + ","
                        + call("documents.get", #"{"path":"a/c"}"#) + "]"
                )
            }
            let entry = try await log.next()
            #expect(entry.message == "Request" && entry.level == .info)
            let keyID = server.context.keys.all[0].id
            for (name, value) in [
                ("http.request.method", "POST"), ("url.path", "/rpc"), ("http.route", "/rpc"),
                ("http.response.status_code", "200"), ("http.response.body.size", "\(response.body.utf8.count)"),
                ("key.id", "\(keyID)"), ("rpc.method", "documents.set,documents.get"), ("rpc.calls", "2"),
                ("rpc.status", "NOT_FOUND"), ("client.address", "127.0.0.1"),
                ("http.request.id", response["x-request-id"] ?? "none"),
            ] {
                #expect(entry.metadata[name]?.description == value, "\(name)")
            }
            #expect(try Double(#require(entry.metadata["duration_ms"]).description) != nil)
            for text in ["secret", "contents", String(key.suffix(64))] { #expect(!entry.text.contains(text)) }
        }
    }

    @Test
    func `A stream is logged when it ends, with its size and duration`() async throws {
        try await withServer(configuration) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&timeout=1"))
                _ = try await connection.responseHead()
            }
            let entry = try await log.next()
            #expect(entry.metadata["url.path"]?.description == "/watch")
            #expect(entry.metadata["http.response.stream"]?.description == "true")
        }
    }

    @Test(arguments: [false, true])
    func `Only a trusted proxy sets the ID of a request`(isTrusted: Bool) async throws {
        var configuration = configuration
        if isTrusted { configuration.trustedProxies = [try #require(CIDRBlock("127.0.0.1"))] }
        try await withServer(configuration) { server in
            let key = try await server.makeKey(.reader)
            let longest = String(repeating: "x", count: 64)
            for (id, isUsable) in [("abc-123", true), (longest, true), (longest + "x", false), ("a b", false), ("é", false)] {
                let response = try await withConnection(to: server) { connection in
                    try await connection.send("GET", "/missing", ["X-Request-Id: \(id)", "Authorization: Bearer \(key)"])
                }
                let given = try #require(response["x-request-id"])
                #expect((given == id) == (isTrusted && isUsable), "\(id): \(given)")
                #expect((1...64).contains(given.utf8.count))
                let entry = try await log.next()
                #expect(entry.metadata["http.request.id"]?.description == given)
                #expect(entry.metadata["http.response.status_code"]?.description == "403")
            }
        }
    }

    @Test
    func `A slow request is a warning with the plan of its query and what it read, without values`() async throws {
        var logger = Logger(label: "test") { [log] _ in log.handler }
        logger.logLevel = .warning
        let configuration = HTTPServerConfiguration.standard.with(\.slowCallTime, .nanoseconds(1))
        try await withServer(configuration, logger: logger) { server in
            try await server.set("a/b", ["x": .string("contents")])
            let body = call("query.run", #"{"collection":"a","where":{"field":"x","op":"==","value":"contents"}}"#)
            try await withConnection(to: server) { connection in
                _ = try await connection.send("POST", "/rpc", ["Content-Type: application/json"], body: body)
            }
            var entry = try await log.next()
            while entry.message != "Slow request" { entry = try await log.next() }
            #expect(entry.level == .warning)
            #expect(entry.metadata["rpc.method"]?.description == "query.run")
            #expect(entry.metadata["db.query.documents_read"]?.description == "1")
            #expect(entry.metadata["db.query.plan"]?.description.isEmpty == false)
            #expect(entry.metadata["db.namespace"]?.description == "p/(default)")
            #expect(!entry.text.contains("contents"))
        }
    }

    @Test
    func `A slow request is listed for admins with its path, without its query`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.slowCallTime, .nanoseconds(1))
        try await withServer(configuration, hasPages: true) { server in
            try await withConnection(to: server) { connection in
                _ = try await connection.send("GET", "/admin/data/books?where=x")
            }
            let slowCalls = server.context.server.slowCalls
            while slowCalls.entries.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
            #expect(slowCalls.entries.map(\.request) == ["GET /admin/data/books"])
        }
    }
}
