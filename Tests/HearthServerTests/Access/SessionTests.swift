import DocumentModel
import DocumentStore
import HearthService
import Logging
import StrictJSON
import Synchronization
import Testing

@testable import HearthServer

/// A browser, as far as signing in needs one: it keeps cookies, and says where its forms are from.
struct TestBrowser {
    let server: TestServer
    /// How the browser calls the server.
    var host = "localhost"
    var scheme = "http"
    private(set) var cookies: [String: String] = [:]

    init(_ server: TestServer) {
        self.server = server
    }

    /// Asks for a page.
    mutating func get(_ address: String, _ fields: [String] = []) async throws -> RawResponse {
        try await ask("GET", address, fields, body: nil)
    }

    /// Sends a form of an own page.
    mutating func post(_ address: String, _ form: String, _ fields: [String]? = nil) async throws -> RawResponse {
        let origin = fields ?? ["Origin: \(scheme)://\(host)", "Sec-Fetch-Site: same-origin"]
        return try await ask("POST", address, origin + ["Content-Type: application/x-www-form-urlencoded"], body: form)
    }

    /// Sends a file by the form of the page for imports.
    ///
    /// - Parameter type: How the media type of the form is written.
    mutating func upload(_ file: String, type: String = "multipart/form-data") async throws -> RawResponse {
        let page = try await get("/admin/import")
        let parts = [
            "Content-Disposition: form-data; name=\"form-token\"\r\n\r\n\(page.formToken)",
            "Content-Disposition: form-data; name=\"file\"; filename=\"x.ndjson\"\r\n\r\n\(file)",
        ]
        let body = parts.map { "--XX\r\n\($0)\r\n" }.joined() + "--XX--\r\n"
        let fields = [
            "Origin: \(scheme)://\(host)", "Sec-Fetch-Site: same-origin", "Content-Type: \(type); boundary=XX",
        ]
        return try await ask("POST", "/admin/import", fields, body: body)
    }

    /// Signs in as people do: by the form of the page.
    mutating func signIn(_ key: String, next: String = "/admin/") async throws -> RawResponse {
        let page = try await get("/admin/sign-in")
        return try await post("/admin/sign-in", "key=\(key)&next=\(next)&form-token=\(page.formToken)")
    }

    private mutating func ask(_ method: String, _ address: String, _ fields: [String], body: String?) async throws -> RawResponse
    {
        let cookie = cookies.isEmpty ? [] : ["Cookie: " + cookies.map { "\($0)=\($1)" }.joined(separator: "; ")]
        let all = ["Host: \(host)"] + cookie + fields
        let response = try await withConnection(to: server) { try await $0.ask(method, address, all, body: body) }
        for field in response.fields where field.name == "set-cookie" {
            let pair = field.value.prefix { $0 != ";" }.split(separator: "=", maxSplits: 1).map(String.init)
            cookies[pair[0]] = field.value.contains("Max-Age=0") ? nil : pair[1]
        }
        return response
    }
}

extension RawResponse {
    /// The word that the first form on the page sends along.
    var formToken: String {
        body.firstMatch(of: /name="form-token" value="([0-9a-f]*)"/).map { String($0.1) } ?? ""
    }

    func cookie(_ name: String) -> String? {
        fields.first { $0.name == "set-cookie" && $0.value.hasPrefix(name + "=") }?.value
    }
}

@Suite("Signing in", .timeLimit(.minutes(10)))
struct SessionTests {
    private static let info = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
    private static let json = "Content-Type: application/json"

    @Test("Who asks for a page without a key is asked for one, and gets to the page by it")
    func signIn() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let asked = try await browser.get("/admin/data/books?size=25")
            #expect(asked.status == 401)
            #expect(asked["www-authenticate"] == #"Bearer realm="Hearth""#)
            #expect(asked.body.contains(#"name="next" value="/admin/data/books?size&#61;25""#))
            let entered = try await browser.signIn(key, next: "/admin/data/books%3Fsize=25")
            #expect(entered.status == 303)
            #expect(entered["location"] == "/admin/data/books?size=25")
            let cookie = try #require(entered.cookie("session"))
            #expect(cookie.wholeMatch(of: /session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax/) != nil)
            let page = try await browser.get("/admin/data/books?size=25")
            #expect(page.status == 200)
            #expect(page.body.contains("You are signed in."))
            #expect(page.body.contains("sent without TLS"))
            #expect(try await browser.get("/admin/data/books").body.contains("You are signed in.") == false)
        }
    }

    @Test("By TLS the cookie is one that nothing but TLS and this host gets, and no other name of it counts")
    func secure() async throws {
        try await withServer(.standard.with(\.allowedHosts, ["db.example"]), hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            (browser.host, browser.scheme) = ("db.example", "https")
            let entered = try await browser.signIn(key)
            let cookie = try #require(entered.cookie("__Host-session"))
            #expect(cookie.wholeMatch(of: /__Host-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax; Secure/) != nil)
            let page = try await browser.get("/admin/")
            #expect(page.status == 200)
            #expect(!page.body.contains("sent without TLS"))
            let id = try #require(browser.cookies["__Host-session"])
            let response = try await withConnection(to: server) { try await $0.ask("GET", "/admin/", ["Cookie: session=\(id)"]) }
            #expect(response.status == 401)
        }
    }

    @Test("Without TLS nobody signs in from elsewhere")
    func plain() async throws {
        try await withServer(.standard.with(\.allowedHosts, ["db.example"]), hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            browser.host = "db.example"
            let refused = try await browser.signIn(key)
            #expect(refused.status == 403)
            #expect(refused.cookie("session") == nil)
            #expect(refused.body.contains("without TLS"))
        }
    }

    @Test(
        "The page to go to is one of this server, whatever is asked for",
        arguments: [
            ("/admin/data/a%2Fb", "/admin/data/a/b"), ("//evil.example/", "/admin/"), ("/%5Cevil.example", "/admin/"),
            ("https://evil.example/", "/admin/"), ("/admin/%0d%0aSet-Cookie:x=y", "/admin/"), ("", "/admin/"),
            ("evil", "/admin/"), ("/%09/evil.example", "/admin/"),
        ]
    )
    func next(next: String, location: String) async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            #expect(try await browser.signIn(key, next: next)["location"] == location)
        }
    }

    @Test("Whatever is wrong with a key, the answer is the same")
    func wrong() async throws {
        try await withServer(hasPages: true) { server in
            let revoked = try await server.makeKey(.admin)
            _ = try await server.makeKey(.admin)
            try await server.context.keys.revoke(UTF8Key(String(revoked.dropFirst(4).prefix(12))))
            var bodies: Set<String> = []
            for key in ["", "x", "fsk_", revoked, String(revoked.dropLast()) + "0", "%00", "%F0%9F%94%91"] {
                var browser = TestBrowser(server)
                let response = try await browser.signIn(key)
                #expect(response.status == 403)
                #expect(response.cookie("session") == nil)
                bodies.insert(response.body.replacing(/value="[0-9a-f]{32,}"/, with: "").replacing(/nonce="[0-9a-f]*"/, with: ""))
            }
            #expect(bodies.count == 1)
        }
    }

    @Test("Who tries too often has to wait, and who has a key does not")
    func attempts() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let page = try await browser.get("/admin/sign-in")
            let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<30 {
                    group.addTask { [browser] in
                        var browser = browser
                        return try await browser.post("/admin/sign-in", "key=x&form-token=\(page.formToken)").status
                    }
                }
                return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
            }
            #expect(statuses == [403, 429])
            #expect(try await browser.signIn(key).status == 303)
        }
    }

    @Test("A form to sign in is taken only from the browser that it was shown in, and never from another site")
    func crossSite() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var (browser, other) = (TestBrowser(server), TestBrowser(server))
            let page = try await other.get("/admin/sign-in")
            let form = "key=\(key)&form-token=\(page.formToken)"
            #expect(try await browser.post("/admin/sign-in", form).cookie("session") == nil)
            #expect(try await browser.post("/admin/sign-in", "key=\(key)").cookie("session") == nil)
            #expect(try await other.post("/admin/sign-in", form, ["Origin: http://evil.example"]).status == 403)
            #expect(try await other.post("/admin/sign-in", form, ["Sec-Fetch-Site: cross-site"]).status == 403)
            #expect(try await other.post("/admin/sign-in", form, []).status == 403)
            #expect(try await other.post("/admin/sign-in", form).status == 303)
        }
    }

    @Test("Signing out ends the session, and signing in again gives another")
    func signOut() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.reader)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let first = try #require(browser.cookies["session"])
            let page = try await browser.get("/admin/")
            #expect(try await browser.post("/admin/sign-out", "form-token=0").status == 400)
            #expect(try await browser.post("/admin/sign-out", "form-token=\(page.formToken)").status == 303)
            #expect(browser.cookies["session"] == nil)
            let old = try await withConnection(to: server) { try await $0.ask("GET", "/admin/", ["Cookie: session=\(first)"]) }
            #expect(old.status == 401)
            _ = try await browser.signIn(key)
            #expect(browser.cookies["session"] != first)
        }
    }

    @Test("A session is no more than its key: it ends with it, at once")
    func revoked() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            #expect(try await browser.get("/admin/").status == 200)
            try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
            #expect(try await browser.get("/admin/").status == 401)
        }
    }

    @Test(
        "Calls and streams take the cookie only where a page of this server asks",
        arguments: [("same-origin", true), ("none", false), ("same-site", false), ("cross-site", false), (nil, false)]
    )
    func calls(site: String?, isTaken: Bool) async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.reader)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let cookie = "Cookie: session=\(try #require(browser.cookies["session"]))"
            let fields = [cookie] + (site.map { ["Sec-Fetch-Site: \($0)"] } ?? [])
            let call = try await withConnection(to: server) {
                try await $0.ask("POST", "/rpc", fields + [Self.json], body: Self.info)
            }
            #expect((call.status == 200) == isTaken)
            let stream = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=books&timeout=1", fields))
                return try await connection.responseHead()
            }
            #expect((stream.status == 200) == isTaken)
            let other = try await withConnection(to: server) {
                try await $0.ask("GET", "/v1/projects/p/databases/(default)/documents/a/b", fields)
            }
            #expect(other.status == (site == "same-site" || site == "cross-site" ? 403 : 401))
        }
    }

    @Test("The stream of a session that is ended is ended too")
    func stream() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.reader)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let cookie = "Cookie: session=\(try #require(browser.cookies["session"]))"
            let page = try await browser.get("/admin/")
            try await withConnection(to: server) { [browser] connection in
                try await connection.send(
                    RawConnection.request("GET", "/watch?collection=books", [cookie, "Sec-Fetch-Site: same-origin"])
                )
                #expect(try await connection.responseHead().status == 200)
                _ = try await connection.receive(through: "current")
                var browser = browser
                _ = try await browser.post("/admin/sign-out", "form-token=\(page.formToken)")
                #expect(try await connection.receiveAll().contains(#""reason":"revoked""#))
            }
        }
    }

    @Test("A form that comes when the session is over is kept on the page, to be sent again")
    func lostForm() async throws {
        try await withServer(hasPages: true) { server in
            _ = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let response = try await browser.post("/rpc/docs", "method=documents.get&params=%7B%22a%22%3A+%3C%7D")
            #expect(response.status == 401)
            #expect(response.body.contains(#"<input type="hidden" name="params" value="{&quot;a&quot;: &lt;}">"#))
        }
    }
}

@Suite("Sessions")
struct SessionLifetimeTests {
    private final class Clock: Sendable {
        private let microseconds: Mutex<Int64>

        init() {
            microseconds = Mutex(Timestamp.current().microseconds)
        }

        func pass(_ duration: Duration) {
            microseconds.withLock { $0 += duration.components.seconds * 1_000_000 }
        }

        var now: Timestamp {
            // A time near the present is in range.
            microseconds.withLock { (try? Timestamp(microseconds: $0)) ?? .maximum }
        }
    }

    private func begin(
        _ sessions: Sessions,
        _ keys: AccessKeys,
        role: Role = .admin
    ) async throws -> (session: Session, id: String) {
        let text = try await keys.create(.init(role: role)).text
        return try await sessions.begin(
            showing: Array(text.utf8),
            from: "127.0.0.1",
            isSecure: false,
            failures: FailedAttempts(limit: 10)
        )
    }

    @Test("One that isn't used for half an hour is over, one in use after twelve hours")
    func age() async throws {
        let (clock, keys) = (Clock(), AccessKeys())
        let sessions = Sessions(keys: keys) { clock.now }
        let idle = try await begin(sessions, keys).id
        let used = try await begin(sessions, keys).id
        for _ in 0..<24 {
            clock.pass(.seconds(29 * 60))
            #expect(sessions.session(of: used.utf8) != nil)
        }
        #expect(sessions.session(of: idle.utf8) == nil)
        clock.pass(.seconds(24 * 60))
        #expect(sessions.session(of: used.utf8) == nil)
    }

    @Test("An admin sees and ends all of them, anybody else those of the same key")
    func others() async throws {
        let keys = AccessKeys()
        let sessions = Sessions(keys: keys)
        let admin = try await begin(sessions, keys)
        let reader = try await begin(sessions, keys, role: .reader)
        #expect(sessions.visible(to: admin.session.caller).count == 2)
        #expect(sessions.visible(to: reader.session.caller).map(\.name) == [reader.session.name])
        #expect(throws: StatusError.self) { try sessions.end(admin.session.name, by: reader.session.caller) }
        try sessions.end(reader.session.name, by: admin.session.caller)
        #expect(sessions.session(of: reader.id.utf8) == nil)
        #expect(sessions.session(of: admin.id.utf8) != nil)
    }

    @Test("One key has no more than it may: the one unused for longest ends")
    func count() async throws {
        let (clock, keys) = (Clock(), AccessKeys())
        let sessions = Sessions(keys: keys) { clock.now }
        let text = try await keys.create(.init(role: .admin)).text
        var ids: [String] = []
        for _ in 0..<33 {
            clock.pass(.seconds(1))
            ids.append(
                try await sessions.begin(
                    showing: Array(text.utf8),
                    from: "",
                    isSecure: false,
                    failures: FailedAttempts(limit: 10)
                ).id
            )
        }
        #expect(ids.filter { sessions.session(of: $0.utf8) == nil } == [ids[0]])
    }
}
