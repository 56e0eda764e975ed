import DocumentModel
import FuzzedInputs
import HearthAPI
import Logging
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP

@Suite("Authentication of end users", .timeLimit(.minutes(10))) struct EndUserTests {
    private static let rules = """
        rules_version = '2';
        service cloud.firestore {
          match /databases/{database}/documents {
            match /notes/{id} { allow read: if request.auth.uid == id; }
            match /posts/{id} { allow read; }
          }
        }
        """
    private static let json = "Content-Type: application/json"
    private static let forged = [UInt8](repeating: 1, count: 32)

    /// Checks the results of reading a document by JSON-RPC and by Firestore's REST API.
    ///
    /// - Parameters:
    ///   - rpc: The status of the call: `OK`, that of its error, or an HTTP status other than 200.
    ///   - rest: The HTTP status of the REST API.
    private func check(
        _ path: String,
        _ authorization: String?,
        _ rpc: String,
        _ rest: Int,
        on server: InProcessServer,
        at location: SourceLocation = #_sourceLocation
    ) async throws {
        let fields = authorization.map { ["Authorization: \($0)"] } ?? []
        let body = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"\#(path)"}}"#
        let called = try await withConnection(to: server) { try await $0.send("POST", "/rpc", fields + [Self.json], body: body) }
        let read = try await withConnection(to: server) { connection in
            try await connection.send("GET", "/v1/projects/p/databases/(default)/documents/\(path)", fields)
        }
        let error = try JSONText(called.body).root["error"]?["data"]?["status"]?.string
        let status = called.status == 200 ? error ?? "OK" : "\(called.status)"
        #expect(status == rpc && read.status == rest, "\(status) \(read.status)", sourceLocation: location)
    }

    private func withDocuments(
        rules: String? = rules,
        _ endUsers: EndUserAuthenticator = EndUserAuthenticator(),
        _ body: @escaping @Sendable (InProcessServer) async throws -> Void
    ) async throws {
        try await withServer(hasPages: true, rules: rules, endUsers: endUsers) { server in
            for path in ["notes/alice", "posts/p"] { try await server.set(path, [:]) }
            try await body(server)
        }
    }

    @Test func `Without keys and rules, everybody is an administrator`() async throws {
        try await withDocuments(rules: nil) { server in
            for authorization in [nil, "Bearer owner", "Bearer \(TestIssuer.unsignedToken("bob"))", "Basic eDp5"] {
                try await check("notes/alice", authorization, "OK", 200, on: server)
            }
        }
    }

    @Test func `With rules, callers without credentials are end users who are not signed in`() async throws {
        try await withDocuments { server in
            try await check("posts/p", nil, "OK", 200, on: server)
            try await check("notes/alice", nil, "PERMISSION_DENIED", 403, on: server)
            try await check("posts/p", "Bearer owner", "401", 401, on: server)
            try await check("posts/p", "Bearer \(TestIssuer.unsignedToken("alice"))", "401", 401, on: server)
            let key = try await server.makeKey(.reader)
            try await check("notes/alice", "Bearer \(key)", "OK", 200, on: server)
        }
    }

    @Test func `A token of a configured issuer makes its user an end user`() async throws {
        let issuer = TestIssuer()
        try await withDocuments(issuer.endUsers()) { server in
            try await check("notes/alice", "Bearer \(issuer.token("alice"))", "OK", 200, on: server)
            try await check("notes/alice", "Bearer \(issuer.token("bob"))", "PERMISSION_DENIED", 403, on: server)
            let forged = issuer.token("alice", signature: Self.forged)
            for token in [forged, issuer.token("alice", lifetime: -3_600), TestIssuer.unsignedToken("alice"), "a.b.c"] {
                try await check("posts/p", "Bearer \(token)", "401", 401, on: server)
            }
        }
    }

    @Test func `Each request of a connection is that of its own token`() async throws {
        let issuer = TestIssuer()
        let endUsers = try issuer.endUsers()
        try await withDocuments(endUsers) { server in
            let path = "/v1/projects/p/databases/(default)/documents/notes/alice"
            let (alice, bob) = ("Bearer \(issuer.token("alice"))", "Bearer \(issuer.token("bob"))")
            let forged = "Bearer \(issuer.token("alice", signature: Self.forged))"
            try await withConnection(to: server) { connection in
                for (authorization, status) in [
                    (alice, 200), (alice, 200), (bob, 403), (bob, 403), (nil, 403), (alice, 200), (forged, 401),
                    (alice + "x", 401),
                    (alice.lowercased(), 401), (alice, 200),
                ] as [(String?, Int)] {
                    let fields = authorization.map { ["Authorization: \($0)"] } ?? []
                    let response = try await connection.send("GET", path, fields)
                    #expect(response.status == status, "\(authorization ?? "none")")
                }
                let closed = try await connection.send("GET", "/admin/settings", ["Authorization: \(alice)"])
                #expect(closed.status == 403)
                try TestIssuer.replaceSecret(of: endUsers)
                let refused = try await connection.send("GET", path, ["Authorization: \(alice)"])
                #expect(refused.status == 401)
            }
        }
    }

    @Test func `A token that has expired is refused on a connection that it was accepted on`() async throws {
        let issuer = TestIssuer()
        try await withDocuments(issuer.endUsers()) { server in
            for seconds in TestIssuer.expiries {
                let field = "Authorization: Bearer \(issuer.token("alice", acceptedFor: seconds))"
                let path = "/v1/projects/p/databases/(default)/documents/notes/alice"
                let statuses = try await withConnection(to: server) { connection in
                    var statuses = [try await connection.send("GET", path, [field]).status]
                    while statuses.last == 200 {
                        try await Task.sleep(for: .milliseconds(100))
                        statuses.append(try await connection.send("GET", path, [field]).status)
                    }
                    return statuses
                }
                #expect(statuses.last == 401)
                if statuses.count > 1 { break }
            }
        }
    }

    @Test func `With an issuer but no rules, the database is closed to everybody without a key`() async throws {
        let issuer = TestIssuer()
        try await withDocuments(rules: nil, issuer.endUsers()) { server in
            try await check("posts/p", nil, "401", 401, on: server)
            try await check("posts/p", "Bearer \(issuer.token("alice"))", "PERMISSION_DENIED", 403, on: server)
            try await check("posts/p", "Bearer \(try await server.makeKey(.reader))", "OK", 200, on: server)
        }
    }

    @Test func `In emulator mode, pages of this machine may call the server, and no others`() async throws {
        try await withDocuments(EndUserAuthenticator(acceptsUnsignedTokens: true)) { server in
            let path = "/v1/projects/p/databases/(default)/documents/posts/p"
            for (origin, isAllowed) in [
                ("http://localhost:3000", true), ("http://127.0.0.1", true), ("http://[::1]:5173", true),
                ("http://localhost.evil.example", false), ("http://localhost:80@evil.example", false),
                ("https://evil.example", false), ("null", false),
            ] {
                let response = try await withConnection(to: server) { connection in
                    try await connection.send("GET", path, ["Origin: \(origin)"])
                }
                #expect((response.status == 200) == isAllowed, "\(origin) \(response.status)")
                #expect((response["access-control-allow-origin"] == origin) == isAllowed, "\(origin)")
                let page = try await withConnection(to: server) { connection in
                    try await connection.send("GET", "/admin/settings", ["Origin: \(origin)"])
                }
                #expect(page.status == 403, "\(origin)")
            }
        }
    }

    @Test func `In emulator mode, unsigned tokens are accepted, and the owner may do everything`() async throws {
        try await withDocuments(EndUserAuthenticator(acceptsUnsignedTokens: true)) { server in
            try await check("notes/alice", nil, "PERMISSION_DENIED", 403, on: server)
            try await check("posts/p", nil, "OK", 200, on: server)
            try await check("notes/alice", "Bearer owner", "OK", 200, on: server)
            try await check("notes/alice", "Bearer \(TestIssuer.unsignedToken("alice"))", "OK", 200, on: server)
            try await check("notes/alice", "Bearer \(TestIssuer.unsignedToken("bob"))", "PERMISSION_DENIED", 403, on: server)
            // Without issuers, nobody could verify it.
            try await check("notes/alice", "Bearer \(TestIssuer().token("alice"))", "OK", 200, on: server)
            for nonsense in ["nonsense", "", "a.b.c"] {
                try await check("posts/p", "Bearer \(nonsense)", "400", 400, on: server)
            }
        }
    }

    @Test func `A server in emulator mode, or without keys and rules, listens on this machine only`() async throws {
        let configuration = HTTPServerConfiguration().with(\.host, "0.0.0.0")
        let logger = Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
        let emulator = ServiceContext(store: ReadOnlyEmptyStore(), rulesRegistry: RulesRegistry(isEmulator: true))
        #expect(throws: StatusError.self) {
            try HTTPServer(configuration: configuration, context: emulator, modules: [], logger: logger)
        }
        let open = ServiceContext(store: ReadOnlyEmptyStore())
        #expect(throws: StatusError.self) {
            try HTTPServer(configuration: configuration, context: open, modules: [], logger: logger)
        }
        let rules = RulesRegistry()
        try rules.setServerRules(Array(Self.rules.utf8))
        let limited = ServiceContext(store: ReadOnlyEmptyStore(), rulesRegistry: rules)
        _ = try HTTPServer(configuration: configuration, context: limited, modules: [], logger: logger)
    }

    /// The routes that are open to end users. A new one without an entry fails the test.
    private static let openPaths: Set<String> = [
        "/rpc", "/watch", "/v1/",
        "/google.firestore.v1.Firestore/", "/google.firestore.v1.Firestore/Listen", "/google.firestore.v1.Firestore/Write",
        "/google.firestore.v1.Firestore/Listen/channel", "/google.firestore.v1.Firestore/Write/channel",
    ]

    @Test func `All routes but those of documents are closed to end users`() async throws {
        let issuer = TestIssuer()
        try await withDocuments(issuer.endUsers()) { server in
            let open = server.routes.filter(\.policy.isOpenToEndUsers)
            #expect(Set(open.map(\.path)) == Self.openPaths)
            for route in server.routes where !route.policy.isOpenToEndUsers && route.policy.access != .open {
                for (fields, statuses) in [
                    (["Authorization: Bearer \(issuer.token("alice"))"], [403]), ([], [401, 403, 200, 303]),
                ] {
                    let response = try await withConnection(to: server) { connection in
                        try await connection.send("GET", route.path, fields)
                    }
                    #expect(statuses.contains(response.status), "\(route.path) \(response.status)")
                    // Programs that probe the server get Ok, and the pages offer to sign in.
                    let isHarmless = response.body == "Ok" || response.body.contains("type=\"password\"")
                    #expect(response.status != 200 || isHarmless, "\(route.path)")
                }
            }
        }
    }

    @Test func `Streams of keys and of end users with the same query do not share removed documents`() async throws {
        let count = 10
        try await withDocuments { server in
            let key = try await server.makeKey(.reader)
            let query = #"{"collection":"posts","where":{"field":"isOpen","op":"==","value":true}}"#
            try await withThrowingTaskGroup { group in
                let (openings, opened) = AsyncStream<Void>.makeStream()
                for stream in 0..<8 {
                    let isKey = stream % 2 == 0
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            let target = "/watch?query=\(PercentEncoding.encode(UTF8Key(query)))"
                            let fields = isKey ? ["Authorization: Bearer \(key)"] : []
                            try await connection.send(RawConnection.request("GET", target, fields))
                            _ = try await connection.receive(through: #""type":"current""#)
                            opened.yield()
                            let text = try await connection.receive(through: #""path":"posts/last","#)
                            #expect(text.matches(of: /"type":"removed"/).count == count)
                            #expect(text.matches(of: /"secret":/).count == (isKey ? count : 0))
                        }
                    }
                }
                _ = await openings.prefix(8).reduce(into: 0) { count, _ in count += 1 }
                for number in 0..<count {
                    try await server.set("posts/p", ["isOpen": .boolean(true)])
                    try await server.set("posts/p", ["isOpen": .boolean(false), "secret": .integer(Int64(number))])
                }
                try await server.set("posts/last", ["isOpen": .boolean(true)])
                try await group.waitForAll()
            }
        }
    }

    @Test func `A watch stream is told that the token of its user has expired`() async throws {
        let issuer = TestIssuer()
        try await withDocuments(issuer.endUsers()) { server in
            for seconds in TestIssuer.expiries {
                let token = issuer.token("alice", acceptedFor: seconds)
                let text = try await withConnection(to: server) { connection in
                    let fields = ["Authorization: Bearer \(token)", "Connection: close"]
                    try await connection.send(RawConnection.request("GET", "/watch?document=notes/alice", fields))
                    return try await connection.receiveAll()
                }
                if !text.contains(#""type":"current""#), seconds != TestIssuer.expiries.last { continue }
                #expect(text.contains(#""type":"current""#))
                #expect(text.contains(#""type":"end","reason":"unauthenticated""#))
                break
            }
        }
    }
}
