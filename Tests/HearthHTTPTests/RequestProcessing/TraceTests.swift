import DocumentModel
import HTTPTypes
import HearthAPI
import HummingbirdCore
import Logging
import NIOCore
import ServerTestSupport
import SpanRecording
import Testing
import Tracing
import UTF8Text

@testable import HearthHTTP

@Suite("Traces of requests", .timeLimit(.minutes(10)))
struct TraceTests {
    private static let traceID = "4bf92f3577b34da6a3ce929d0e0e4736"
    private static let spanID = "00f067aa0ba902b7"
    private static let sampled = "traceparent: 00-\(traceID)-\(spanID)-01"
    private static let unsampled = "traceparent: 00-\(traceID)-\(spanID)-00"
    private static let json = "Content-Type: application/json"

    private let log = SpanLog()

    private func configuration(_ ratio: Double) -> HTTPServerConfiguration {
        .standard.with(\.tracer, log.tracer(sampleRatio: ratio))
    }

    private func call(_ method: String, _ params: String) -> String {
        #"{"jsonrpc":"2.0","id":1,"method":"\#(method)","params":\#(params)}"#
    }

    private func text(_ attribute: String, of span: SpanRecord) -> String? {
        switch span.attributes[attribute]?.toSpanAttribute() {
        case .string(let text): text
        case .int64(let number): "\(number)"
        default: nil
        }
    }

    @Test
    func `A commit's span is in that of its call, and that in the request's, which continues the caller's trace`() async throws {
        try await withServer(configuration(0)) { server in
            _ = try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST",
                    "/rpc?token=secret",
                    [Self.json, Self.sampled, "tracestate: vendor=1"],
                    body: call("documents.set", #"{"path":"a/hidden","fields":{"x":"hidden"}}"#)
                )
            }
            let spans = try await log.nextRequest()
            #expect(spans.map(\.name) == ["commit", "journal sync", "documents.set", "POST /rpc"])
            let (commit, sync, method, request) = (spans[0], spans[1], spans[2], spans[3])
            #expect(request.parentID.map { "\($0)" } == Self.spanID)
            #expect(method.parentID == request.trace.spanID && commit.parentID == method.trace.spanID)
            #expect(sync.parentID == commit.trace.spanID)
            for span in spans {
                #expect("\(span.trace.traceID)" == Self.traceID && span.trace.state == "vendor=1")
                #expect(span.startTime <= span.endTime && request.startTime <= span.startTime && span.endTime <= request.endTime)
                let values = span.name + "\(span.attributes)"
                #expect(!values.contains("secret") && !values.contains("hidden"))
            }
            #expect(commit.startTime <= sync.startTime && sync.endTime <= commit.endTime)
            #expect(text("http.route", of: request) == "/rpc" && text("http.request.method", of: request) == "POST")
            #expect(text("http.response.status_code", of: request) == "200")
            #expect(text("rpc.method", of: method) == "documents.set" && text("rpc.response.status_code", of: method) == "OK")
            #expect(text("db.operation.batch.size", of: commit) == "1")
        }
    }

    @Test
    func `Each call of a batch has a span, with those of its queries`() async throws {
        try await withServer(configuration(1)) { server in
            try await server.set("books/x", [:])
            let calls = [
                call("query.run", #"{"collection":"books"}"#), call("documents.get", #"{"path":"books/missing"}"#),
                call("query.aggregate", #"{"collection":"books","aggregations":[{"count":{}}]}"#), call("invented", "{}"),
            ]
            let response = try await withConnection(to: server) { connection in
                try await connection.send("POST", "/rpc", [Self.json], body: "[\(calls.joined(separator: ","))]")
            }
            let spans = try await log.nextRequest()
            let expected = ["query", "query.run", "documents.get", "aggregate", "query.aggregate", "_OTHER", "POST /rpc"]
            #expect(spans.map(\.name) == expected, "\(response.body)")
            guard spans.count == 7 else { return }
            #expect(spans[0].parentID == spans[1].trace.spanID && spans[3].parentID == spans[4].trace.spanID)
            #expect(spans[6].parentID == nil && [1, 2, 4, 5].allSatisfy { spans[$0].parentID == spans[6].trace.spanID })
            #expect(text("rpc.method", of: spans[5]) == "_OTHER" && text("rpc.system.name", of: spans[5]) == "jsonrpc")
            #expect(text("db.query.plan", of: spans[0])?.isEmpty == false)
            #expect(text("db.query.documents_read", of: spans[0]) == "1")
            #expect(text("rpc.response.status_code", of: spans[2]) == "NOT_FOUND")
            // An error of the client is none of the server.
            #expect(spans[...4].allSatisfy { $0.status == nil })
        }
    }

    @Test
    func `A commit that fails has a span with its status`() async throws {
        try await withServer(configuration(1)) { server in
            let set = call("documents.set", #"{"path":"books/x","fields":{},"precondition":{"exists":true}}"#)
            let response = try await withConnection(to: server) { connection in
                try await connection.send("POST", "/rpc", [Self.json], body: set)
            }
            let spans = try await log.nextRequest()
            #expect(spans.map(\.name) == ["commit", "documents.set", "POST /rpc"], "\(response.body)")
            let commit = try #require(spans.first)
            #expect(text("db.response.status_code", of: commit) == "NOT_FOUND")
            // An error of the client is none of the server.
            #expect(text("db.operation.batch.size", of: commit) == "1" && spans.allSatisfy { $0.status == nil })
        }
    }

    @Test(arguments: [
        "", "00", "00-\(traceID)-\(spanID)", "ff-\(traceID)-\(spanID)-01", "00-\(traceID.uppercased())-\(spanID)-01",
        "00-\(String(repeating: "0", count: 32))-\(spanID)-01", "00-\(traceID)-\(String(repeating: "0", count: 16))-01",
        String(repeating: "0", count: 500), "\u{e9}", "00-\(traceID)-\(spanID)-01\r\ntraceparent: 00-\(traceID)-\(spanID)-01",
    ])
    func `A request with an invalid header is answered, and begins a trace`(value: String) async throws {
        try await withServer(configuration(1)) { server in
            let response = try await withConnection(to: server) { connection in
                try await connection.send("GET", "/health", ["traceparent: \(value)"])
            }
            #expect(response.status == 200)
            let span = try await log.next()
            #expect(span.name == "GET /health" && span.parentID == nil && "\(span.trace.traceID)" != Self.traceID)
        }
    }

    /// The callers of requests, and whether their decisions to sample a trace count.
    enum CallerKind: CaseIterable {
        case keyHolder, endUser, unauthenticated, proxy, openAccess

        var isTrusted: Bool { self == .keyHolder || self == .openAccess }
    }

    @Test(arguments: CallerKind.allCases)
    func `The decision to sample counts from callers with a key, not from end users and proxies`(caller: CallerKind) async throws
    {
        let rules = "service cloud.firestore { match /databases/{d}/documents { match /{p=**} { allow read; } } }"
        for (ratio, header) in [(0.0, Self.sampled), (1.0, Self.unsampled)] {
            var configuration = configuration(ratio)
            if caller == .proxy { configuration.trustedProxies = [try #require(CIDRBlock("127.0.0.1"))] }
            try await withServer(configuration, rules: caller == .endUser || caller == .proxy ? rules : nil) { server in
                var fields = [Self.json, header]
                if caller == .keyHolder || caller == .unauthenticated {
                    let key = try await server.makeKey(.reader)
                    if caller == .keyHolder { fields.append("Authorization: Bearer \(key)") }
                }
                let body = call("documents.get", #"{"path":"a/b"}"#)
                let sent = fields
                let response = try await withConnection(to: server) { try await $0.send("POST", "/rpc", sent, body: body) }
                #expect(response.status == (caller == .unauthenticated ? 401 : 200))
                if caller.isTrusted ? header == Self.sampled : ratio == 1 {
                    #expect(try await log.nextRequest().last?.name == "POST /rpc", "\(ratio)")
                }
                // The next trace is sampled, so that the one before can be found to be missing.
                let trusted = try await server.makeKey(.admin)
                let other = String(Self.traceID.reversed())
                let marker = ["Authorization: Bearer \(trusted)", "traceparent: 00-\(other)-\(Self.spanID)-01"]
                _ = try await withConnection(to: server) { try await $0.send("GET", "/metrics", marker) }
                #expect(try await log.nextRequest().last?.name == "GET /metrics", "\(ratio)")
            }
        }
    }

    @Test
    func `The span of a stream ends when the stream has been opened`() async throws {
        try await withServer(configuration(1)) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                _ = try await connection.responseHead()
                let span = try await log.next()
                #expect(span.name == "GET /watch")
                // The stream is still open.
                try await server.set("a/b", [:])
                _ = try await connection.receive(through: "a/b")
            }
            _ = try await withConnection(to: server) { try await $0.send("GET", "/health") }
            #expect(try await log.next().name == "GET /health")
        }
    }

    @Test
    func `A request that fails has a span, without its path if that is not listed`() async throws {
        try await withServer(configuration(1)) { server in
            _ = try await server.makeKey(.reader)
            _ = try await withConnection(to: server) { try await $0.send("GET", "/secret/path") }
            let span = try await log.next()
            #expect(span.name == "GET" && text("http.response.status_code", of: span) == "401")
            #expect(!"\(span.attributes)".contains("secret"))
            let documents = "/v1/projects/p/databases/(default)/documents/notes/secret?mask.fieldPaths=secret"
            _ = try await withConnection(to: server) { try await $0.send("GET", documents) }
            let read = try await log.next()
            #expect(text("http.route", of: read) == "/v1/*" && !"\(read.name) \(read.attributes)".contains("secret"))
            _ = try await withConnection(to: server) { try await $0.send("PROPFIND", "/health") }
            #expect(try await log.next().name == "HTTP /health")
        }
    }

    @Test(arguments: [true, false])
    func `The log names the trace of the caller, whether it is sampled and traces are on`(isTraced: Bool) async throws {
        let entries = EntryLog()
        var configuration: HTTPServerConfiguration = .standard
        configuration.accessLogger = Logger(label: "access") { _ in entries.handler }
        if isTraced { configuration.tracer = log.tracer(sampleRatio: 0) }
        try await withServer(configuration) { server in
            for header in [Self.sampled, Self.unsampled, "traceparent: 1", "Accept: */*"] {
                _ = try await withConnection(to: server) { try await $0.send("GET", "/health", [header]) }
                let id = try await entries.next().metadata["trace_id"]?.description
                #expect(id == (header.contains(Self.traceID) ? Self.traceID : nil))
            }
        }
    }

    /// A route that says whether its request is traced.
    private struct ProbeModule: RouteModule {
        func routes(using server: ServerResources) -> [Route] {
            var policy = RoutePolicy()
            policy.access = .open
            let respond: Route.Handler = { _, _ in
                let text = "\(RequestTrace.current != nil) \(ServiceContext.current?.trace != nil)"
                return Response(status: .ok, body: ResponseBody(byteBuffer: .init(string: text)))
            }
            return [Route("/probe", policy, [.get: respond])]
        }
    }

    @Test
    func `Without a tracer, no request is traced, whatever it asks for`() async throws {
        try await withServer(modules: [ProbeModule()]) { server in
            let response = try await withConnection(to: server) { try await $0.send("GET", "/probe", [Self.sampled]) }
            #expect(response.body == "false false")
        }
        try await withServer(configuration(0), modules: [ProbeModule()]) { server in
            let response = try await withConnection(to: server) { try await $0.send("GET", "/probe", [Self.sampled]) }
            #expect(response.body == "true true")
        }
    }
}
