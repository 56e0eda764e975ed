import DocumentModel
import DocumentStore
import HearthAPI
import JSONRPC
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP

/// The live update streams of the admin pages.
@Suite("Live update streams", .timeLimit(.minutes(10)))
struct LiveUpdateStreamTests {
    private static let events = ["Accept: text/event-stream", "Sec-Fetch-Site: same-origin"]

    /// Returns the URL of a page's stream.
    private func stream(of page: String, in server: InProcessServer, _ fields: [String] = []) async throws -> String {
        let response = try await withConnection(to: server) { try await $0.send("GET", page, fields) }
        let address = try #require(response.body.firstMatch(of: /data-stream="([^"]*)"/)?.1)
        return String(address).replacing("&#61;", with: "=").replacing("&amp;", with: "&")
    }

    private func open(_ connection: inout RawConnection, _ address: String, _ fields: [String] = []) async throws {
        try await connection.send(RawConnection.request("GET", address, Self.events + fields))
        let head = try await connection.responseHead()
        #expect(head.status == 200)
        #expect(head["content-type"] == "text/event-stream")
        #expect(head["cache-control"] == "no-store")
        #expect(head["content-encoding"] == nil)
        _ = try await connection.receive(through: ":\n\n")
    }

    /// Receives the next event of a type: its data and ID.
    private func event(_ type: String, from connection: inout RawConnection) async throws -> (data: JSONNode, id: String) {
        _ = try await connection.receive(through: "event: \(type)\ndata: ")
        let lines = try await connection.receive(through: "\n\n").split(separator: "\n")
        let id = lines.first { $0.utf8.starts(with: "id: ".utf8) }.map { String($0.dropFirst(4)) } ?? ""
        return (try JSONText(Array(lines[0].utf8)).root, id)
    }

    @Test
    func `A changed row is rendered by the page's template, with its colors, in the page's language`() async throws {
        try await withServer(hasPages: true) { server in
            try await server.set("books/b", ["pages": .integer(1), "title": .string("old")])
            let address = try await stream(of: "/admin/data/books", in: server)
            // Changes before the stream is opened are sent too.
            try await server.set("books/b", ["pages": .string("<many>"), "title": .string("#fd1c48")])
            try await withConnection(to: server) { connection in
                try await open(&connection, address, ["Cookie: lang=fa"])
                let (data, id) = try await event("rows", from: &connection)
                let path = try DocumentPath("books/b")
                let version = try #require(try await server.context.store.document(at: path)).updateTime.microseconds
                #expect(
                    data["rows"]?.string == """
                        <tr data-key="/admin/data/books/b">
                        <td class="select"><input type="checkbox" name="row" value="b:\(version)" form="selection" aria-label="گزینش b"></td>
                        <th scope="row" class="id"><a href="/admin/data/books/b"><bdi lang="">b</bdi></a></th>
                        <td class="unusual-cell"><bdi class="string" lang="">&lt;many&gt;</bdi> <span class="type unusual">رشته</span></td>
                        <td><span class="chip c-fd1c48"><bdi>#fd1c48</bdi></span></td>
                        </tr>
                        """
                )
                #expect(
                    data["styles"]?.elements?.compactMap(\.string)
                        == [".c-fd1c48{background-color:#fd1c48;color:#000000;--swatch:#fd1c48}"]
                )
                #expect(data["fields"]?.count == 0)
                #expect(ResumeToken(id) != nil)
                try await server.delete("books/b")
                #expect(try await event("removed", from: &connection).data["key"]?.string == "/admin/data/books/b")
            }
            // A reconnecting browser sends the last event ID.
            try await server.set("books/c", ["pages": .integer(1), "author": .string("x")])
            try await withConnection(to: server) { connection in
                let token = ResumeToken(try PreparedWatchTarget.collectionPage("books"), at: server.context.store.position).text
                try await server.set("books/d", ["pages": .integer(1), "author": .string("x")])
                try await open(&connection, address, ["Last-Event-ID: \(token)"])
                let (data, _) = try await event("rows", from: &connection)
                #expect(data["rows"]?.string?.contains(#"data-key="/admin/data/books/d""#) == true)
                #expect(data["fields"]?.elements?.compactMap(\.string) == ["author"])
            }
        }
    }

    @Test
    func `A changed document is rendered with its rows and metadata`() async throws {
        try await withServer(hasPages: true) { server in
            try await server.set("books/b", ["pages": .integer(1)])
            let address = try await stream(of: "/admin/data/books/b", in: server)
            try await withConnection(to: server) { connection in
                try await open(&connection, address)
                try await server.set("books/b", ["size": .map(["color": .string("#00f")])])
                let (data, _) = try await event("rows", from: &connection)
                let rows = data["rows"]?.string ?? ""
                #expect(rows.matches(of: /data-key="([^"]*)"/).map { String($0.1) } == ["size", "size.color"])
                #expect(data["parts"]?.elements?.compactMap(\.string).first?.contains("<dt>Updated</dt>") == true)
                #expect(data["styles"]?.count == 1)
                #expect(data["isComplete"]?.boolean == true)
            }
        }
    }

    @Test
    func `Aggregate views receive only a change notification`() async throws {
        try await withServer(hasPages: true) { server in
            try await server.set("books/b", ["color": .string("#00f")])
            let address = try await stream(of: "/admin/data/books?view=colors", in: server)
            try await withConnection(to: server) { connection in
                try await open(&connection, address)
                try await server.set("books/b", ["color": .string("#f00")])
                #expect(try await event("changed", from: &connection).data.count == 0)
            }
        }
    }

    @Test
    func `A stream ends with its session and does not keep the session alive`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let cookie = "Cookie: session=\(try #require(browser.cookies["session"]))"
            let address = try await stream(of: "/admin/data/books", in: server, [cookie])
            let session = try #require(server.context.sessions.visible(to: .system).first)
            try await withConnection(to: server) { connection in
                try await open(&connection, address, [cookie])
                try await server.set("books/b", ["v": .integer(1)])
                _ = try await event("rows", from: &connection)
                #expect(server.context.sessions.visible(to: .system).map(\.lastUseTime) == [session.lastUseTime])
                try await server.context.sessions.end(session.name, by: .system)
                let rest = try await connection.receiveAll()
                let event = #"event: failed\#ndata: {"reason":"Your session has ended.","signIn":"/admin/sign-in"}"#
                #expect(rest.contains(event))
            }
            let again = try await withConnection(to: server) { try await $0.send("GET", address, Self.events + [cookie]) }
            #expect(again.status == 401)
        }
    }

    @Test
    func `A stream ends when the key of its session is revoked`() async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.reader, collections: ["books"])
            let bearer = "Authorization: Bearer \(key)"
            let address = try await stream(of: "/admin/data/books", in: server, [bearer])
            try await withConnection(to: server) { connection in
                try await open(&connection, address, [bearer])
                try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
                #expect(try await connection.receiveAll().contains(#"{"reason":"You no longer have permission to see this."}"#))
            }
        }
    }

    @Test(arguments: ["same-site", "cross-site", nil])
    func `Cross-site pages cannot open a stream with the cookie`(site: String?) async throws {
        try await withServer(hasPages: true) { server in
            let key = try await server.makeKey(.admin)
            var browser = TestBrowser(server)
            _ = try await browser.signIn(key)
            let cookie = "Cookie: session=\(try #require(browser.cookies["session"]))"
            let address = try await stream(of: "/admin/data/books", in: server, [cookie])
            let fields = [cookie, "Accept: text/event-stream"] + (site.map { ["Sec-Fetch-Site: \($0)"] } ?? [])
            #expect(try await withConnection(to: server) { try await $0.send("GET", address, fields) }.status == 401)
        }
    }

    @Test
    func `Live update streams count toward the watch limits`() async throws {
        try await withServer(.standard.with(\.maximumWatchers, 1), hasPages: true) { server in
            let address = try await stream(of: "/admin/data/books", in: server)
            try await withConnection(to: server) { connection in
                try await open(&connection, address)
                #expect(server.context.server.activity.watcherCount == 1)
                for other in [address, "/watch?collection=books"] {
                    let rejected = try await withConnection(to: server) { try await $0.send("GET", other, Self.events) }
                    #expect(rejected.status == 429)
                    #expect(rejected["retry-after"] == "5")
                }
            }
            try await server.wait { server.context.server.activity.watcherCount == 0 }
        }
    }

    @Test(
        arguments: [
            ("/admin/data/books?live", 400), ("/admin/data/books?live=x", 400), ("/admin/data/books?live=TOKEN", 200),
            ("/admin/data/books?live=TOKEN&size=25", 400), ("/admin/data/other?live=TOKEN", 400),
            ("/admin/data/books/b?live=TOKEN", 400), ("/admin/data/books?live=TOKEN&column=string", 400),
            ("/admin/data/books?live=TOKEN&where=nonsense", 400), ("/admin/data/__x__?live=TOKEN", 400),
        ]
    )
    func `Invalid stream URLs are rejected before the stream starts`(address: String, status: Int) async throws {
        try await withServer(hasPages: true) { server in
            let token = ResumeToken(try PreparedWatchTarget.collectionPage("books"), at: server.context.store.position).text
            try await withConnection(to: server) { connection in
                let address = address.replacing("TOKEN", with: token)
                try await connection.send(RawConnection.request("GET", address, Self.events))
                #expect(try await connection.responseHead().status == status)
            }
        }
    }

    @Test
    func `A stream ends on shutdown`() async throws {
        try await withServer(hasPages: true) { server in
            let address = try await stream(of: "/admin/data/books", in: server)
            try await withConnection(to: server) { connection in
                try await open(&connection, address)
                await server.stopGracefully()
                #expect(try await connection.receiveAll().contains(#"{"reason":"shutdown"}"#))
            }
        }
    }
}

extension PreparedWatchTarget {
    /// Returns the target of a collection page with default settings.
    fileprivate static func collectionPage(_ id: String) throws -> PreparedWatchTarget {
        let json = #"{"collection":"\#(id)","orderBy":[{"field":"__name__"}],"limit":50}"#
        return .query(try PreparedWatchQuery(json: JSONText(Array(json.utf8)).root, at: .params))
    }
}
