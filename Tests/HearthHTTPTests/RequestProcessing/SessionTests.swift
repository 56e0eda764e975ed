import DocumentModel
import DocumentStore
import HearthAPI
import Logging
import ServerTestSupport
import StrictJSON
import Synchronization
import Testing
import UTF8Text

@testable import HearthHTTP

@Suite("Sign-in", .timeLimit(.minutes(10)))
struct SessionTests {
    private static let info = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
    private static let json = "Content-Type: application/json"

    @Test
    func `A page without credentials shows the sign-in form, which leads to the page`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let form = try await browser.get("/admin/data/books?size=25")
            #expect(form.status == 401)
            #expect(form["www-authenticate"] == #"Bearer realm="Hearth""#)
            #expect(form.body.contains(#"name="next" value="/admin/data/books?size&#61;25""#))
            let response = try await browser.signIn(key, next: "/admin/data/books%3Fsize=25")
            #expect(response.status == 303)
            #expect(response["location"] == "/admin/data/books?size=25")
            let cookie = try #require(response.cookie("session"))
            #expect(cookie.wholeMatch(of: /session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax/) != nil)
            let page = try await browser.get("/admin/data/books?size=25")
            #expect(page.status == 200)
            #expect(page.body.contains("Signed in."))
            #expect(page.body.contains("doesn’t use TLS"))
            #expect(try await browser.get("/admin/data/books").body.contains("Signed in.") == false)
        }
    }

    @Test
    func `With TLS the cookie has the __Host- prefix and is not valid under another name`() async throws {
        try await withServer(.standard.with(\.allowedHosts, ["db.example"]), hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            (browser.host, browser.scheme) = ("db.example", "https")
            let response = try await browser.signIn(key)
            let cookie = try #require(response.cookie("__Host-session"))
            #expect(cookie.wholeMatch(of: /__Host-session=[0-9a-f]{64}; Path=\/; HttpOnly; SameSite=Lax; Secure/) != nil)
            let page = try await browser.get("/admin/")
            #expect(page.status == 200)
            #expect(!page.body.contains("doesn’t use TLS"))
            let id = try #require(browser.cookies["__Host-session"])
            let unprefixed = try await withConnection(to: server) {
                try await $0.send("GET", "/admin/", ["Cookie: session=\(id)"])
            }
            #expect(unprefixed.status == 401)
        }
    }

    @Test
    func `Sign-in from another machine requires TLS`() async throws {
        try await withServer(.standard.with(\.allowedHosts, ["db.example"]), hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            browser.host = "db.example"
            let rejected = try await browser.signIn(key)
            #expect(rejected.status == 403)
            #expect(rejected.cookie("session") == nil)
            #expect(rejected.body.contains("doesn’t use TLS"))
        }
    }

    @Test(
        arguments: [
            ("/admin/data/a%2Fb", "/admin/data/a/b"), ("//evil.example/", "/admin/"), ("/%5Cevil.example", "/admin/"),
            ("https://evil.example/", "/admin/"), ("/admin/%0d%0aSet-Cookie:x=y", "/admin/"), ("", "/admin/"),
            ("evil", "/admin/"), ("/%09/evil.example", "/admin/"),
        ]
    )
    func `The redirect after sign-in stays on this server`(next: String, location: String) async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            #expect(try await browser.signIn(key, next: next)["location"] == location)
        }
    }

    @Test
    func `The response to an invalid key does not reveal why it is invalid`() async throws {
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

    @Test
    func `Failed sign-ins are rate-limited; valid keys are not`() async throws {
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

    @Test
    func `A form that was submitted after the session had ended is continued after sign-in`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let typed =
                "as=fields&base=&id=typed&rows=1&r0-depth=0&r0-name=a&r0-type=string&r0-value=long+text&do=save&form-token=x"
            let expired = try await browser.post("/admin/data/held?new", typed)
            #expect(expired.status == 401)
            // A mistyped key keeps the form.
            let rejected = try await browser.post("/admin/sign-in", Self.fields(of: expired, with: "x"))
            #expect(rejected.status == 403)
            let signedIn = try await browser.post("/admin/sign-in", Self.fields(of: rejected, with: key))
            #expect(signedIn.status == 200)
            #expect(signedIn.cookie("session") != nil)
            #expect(signedIn.body.contains(#"action="/admin/data/held?new""#))
            #expect(signedIn.body.contains(#"name="r0-value" value="long text""#))
            // The page does not save by itself: another site may have submitted the form.
            let editor = try await browser.post("/admin/data/held?new", typed)
            #expect(editor.body.contains("long text") && editor.body.contains("review it and submit it again"))
            #expect(try await browser.get("/admin/data/held/typed").status == 404)
            let saved = try await browser.post("/admin/data/held?new", typed.dropLast() + editor.formToken)
            #expect(saved.status == 303)
            let foreign = try await browser.get("/admin/sign-in")
            #expect(foreign.status == 303)
        }
    }

    @Test
    func `A held form of another site is not offered after sign-in`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let page = try await browser.get("/admin/sign-in")
            let form = "key=\(key)&next=/admin/&held=https%3A%2F%2Fevil.example%2F&held.a=1&form-token=\(page.formToken)"
            let response = try await browser.post("/admin/sign-in", form)
            #expect(response.status == 303)
            #expect(response["location"] == "/admin/")
        }
    }

    /// Returns the sign-in form on a page, filled in.
    private static func fields(of page: RawResponse, with key: String) -> String {
        let fields = page.body.matches(of: /<input type="hidden" name="([^"]*)" value="([^"]*)">/).map { match in
            let value = String(match.2).replacing("&#61;", with: "=").replacing("&amp;", with: "&")
            return "\(match.1)=\(value.replacing(" ", with: "+"))"
        }
        return (fields + ["key=\(key)"]).joined(separator: "&")
    }

    @Test
    func `The sign-in form is protected against CSRF`() async throws {
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

    @Test
    func `Sign-out ends the session, and the next sign-in starts a new one`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.reader)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let first = try #require(browser.cookies["session"])
            let page = try await browser.get("/admin/")
            #expect(try await browser.post("/admin/sign-out", "form-token=0").status == 400)
            #expect(try await browser.post("/admin/sign-out", "form-token=\(page.formToken)").status == 303)
            #expect(browser.cookies["session"] == nil)
            let old = try await withConnection(to: server) { try await $0.send("GET", "/admin/", ["Cookie: session=\(first)"]) }
            #expect(old.status == 401)
            _ = try await browser.signIn(key)
            #expect(browser.cookies["session"] != first)
        }
    }

    @Test
    func `A session ends when its key is revoked`() async throws {
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
        arguments: [("same-origin", true), ("none", false), ("same-site", false), ("cross-site", false), (nil, false)]
    )
    func `API calls and streams accept the cookie only from same-origin pages`(site: String?, isAccepted: Bool) async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.reader)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let cookie = "Cookie: session=\(try #require(browser.cookies["session"]))"
            let fields = [cookie] + (site.map { ["Sec-Fetch-Site: \($0)"] } ?? [])
            let call = try await withConnection(to: server) {
                try await $0.send("POST", "/rpc", fields + [Self.json], body: Self.info)
            }
            #expect((call.status == 200) == isAccepted)
            let stream = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=books&timeout=1", fields))
                return try await connection.responseHead()
            }
            #expect((stream.status == 200) == isAccepted)
            let other = try await withConnection(to: server) {
                try await $0.send("GET", "/v1/projects/p/databases/(default)/documents/a/b", fields)
            }
            #expect(other.status == (site == "same-site" || site == "cross-site" ? 403 : 401))
        }
    }

    @Test
    func `A session is used by what its user requests, not by the updates of an open page`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let cookie = "Cookie: session=\(try #require(browser.cookies["session"]))"
            func lastUse() throws -> Timestamp {
                try #require(server.context.sessions.visible(to: .openAccess).first).lastUseTime
            }
            let start = try lastUse()
            for fields in [["Hearth-Refresh: 1"], ["Accept: text/event-stream", "Sec-Fetch-Site: same-origin"]] {
                let page = try await withConnection(to: server) { try await $0.send("GET", "/admin/activity", [cookie] + fields) }
                #expect(page.status == 200)
                #expect(try lastUse() == start)
            }
            _ = try await browser.get("/admin/activity")
            #expect(try lastUse() > start)
        }
    }

    @Test
    func `A stream ends with its session`() async throws {
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

    @Test
    func `A form submitted after the session has ended is kept for resubmission`() async throws {
        try await withServer(hasPages: true) { server in
            _ = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            let response = try await browser.post("/rpc/docs", "method=documents.get&params=%7B%22a%22%3A+%3C%7D")
            #expect(response.status == 401)
            #expect(response.body.contains(#"<input type="hidden" name="held.params" value="{&quot;a&quot;: &lt;}">"#))
        }
    }
}

@Suite("Session lifetime")
struct SessionLifetimeTests {
    private final class Clock: Sendable {
        private let microseconds: Mutex<Int64>

        init() {
            microseconds = Mutex(Timestamp.current().microseconds)
        }

        func advance(by duration: Duration) {
            microseconds.withLock { $0 += duration.components.seconds * 1_000_000 }
        }

        var now: Timestamp {
            // Times near the present are in range.
            microseconds.withLock { (try? Timestamp(microseconds: $0)) ?? .maximum }
        }
    }

    private func start(
        _ sessions: SessionRegistry,
        _ keys: APIKeyRegistry,
        role: Role = .admin
    ) async throws -> (session: Session, id: String) {
        let text = try await keys.create(.init(role: role)).text
        return try await sessions.start(
            with: Array(text.utf8),
            from: "127.0.0.1",
            isSecure: false,
            failures: FailedAttemptLimiter(limit: 10)
        )
    }

    @Test
    func `A session expires after 30 minutes without use, or after 12 hours`() async throws {
        let (clock, keys) = (Clock(), APIKeyRegistry())
        let sessions = SessionRegistry(keys: keys) { clock.now }
        let idle = try await start(sessions, keys).id
        let used = try await start(sessions, keys).id
        for _ in 0..<24 {
            clock.advance(by: .seconds(29 * 60))
            #expect(sessions.session(withID: used.utf8) != nil)
        }
        #expect(sessions.session(withID: idle.utf8) == nil)
        clock.advance(by: .seconds(24 * 60))
        #expect(sessions.session(withID: used.utf8) == nil)
    }

    @Test
    func `Admins see and end all sessions, others only those of their key`() async throws {
        let keys = APIKeyRegistry()
        let sessions = SessionRegistry(keys: keys)
        let admin = try await start(sessions, keys)
        let reader = try await start(sessions, keys, role: .reader)
        #expect(sessions.visible(to: admin.session.caller).count == 2)
        #expect(sessions.visible(to: reader.session.caller).map(\.name) == [reader.session.name])
        await #expect(throws: StatusError.self) { try await sessions.end(admin.session.name, by: reader.session.caller) }
        try await sessions.end(reader.session.name, by: admin.session.caller)
        #expect(sessions.session(withID: reader.id.utf8) == nil)
        #expect(sessions.session(withID: admin.id.utf8) != nil)
    }

    @Test
    func `The least recently used session ends when a key exceeds its limit`() async throws {
        let (clock, keys) = (Clock(), APIKeyRegistry())
        let sessions = SessionRegistry(keys: keys) { clock.now }
        let text = try await keys.create(.init(role: .admin)).text
        var ids: [String] = []
        for _ in 0..<33 {
            clock.advance(by: .seconds(1))
            ids.append(
                try await sessions.start(
                    with: Array(text.utf8),
                    from: "",
                    isSecure: false,
                    failures: FailedAttemptLimiter(limit: 10)
                ).id
            )
        }
        #expect(ids.filter { sessions.session(withID: $0.utf8) == nil } == [ids[0]])
    }
}
