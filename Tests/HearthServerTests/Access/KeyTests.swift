import DocumentModel
import FuzzedInputs
import HearthService
import Hummingbird
import Logging
import StrictJSON
import Testing

@testable import HearthServer

/// Keys as they are shown over the wire.
@Suite("Keys over HTTP", .timeLimit(.minutes(1)))
struct KeyTests {
    private static let info = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
    private static let write = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{}}}"#
    private static let json = "Content-Type: application/json"

    /// Asks on a connection of its own: a refusal before the body was read ends one.
    private func ask(
        _ server: TestServer,
        _ method: String,
        _ target: String,
        _ fields: [String],
        body: String? = nil
    ) async throws -> RawResponse {
        try await withConnection(to: server) { try await $0.ask(method, target, fields, body: body) }
    }

    @Test("Without any key nobody is asked for one, and one that is shown is not looked at")
    func noKeys() async throws {
        try await withServer { server in
            for more in [[], ["Authorization: Bearer abc"], ["Authorization: Basic eDp5"]] {
                let response = try await ask(server, "POST", "/rpc", [Self.json] + more, body: Self.write)
                #expect(response.status == 200)
            }
        }
    }

    private static let guarded = [
        ("POST", "/rpc"), ("GET", "/rpc"), ("OPTIONS", "/rpc"), ("GET", "/watch?document=a/b"), ("POST", "/watch"),
        ("GET", "/openrpc.json"), ("HEAD", "/openrpc.json"), ("GET", "/administrator"), ("GET", "/nothing"),
    ]

    @Test("With keys everything but the health needs one, whatever is there")
    func missing() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.admin)
            for (method, target) in Self.guarded {
                let response = try await ask(server, method, target, [Self.json], body: method == "POST" ? Self.info : nil)
                #expect(response.status == 401, "\(method) \(target)")
                #expect(response["www-authenticate"] == #"Bearer realm="Hearth""#)
                guard method != "HEAD" else { continue }
                #expect(response.body.contains(#""code":16"#))
                #expect(response.body.contains(#""status":"UNAUTHENTICATED""#))
            }
            #expect(try await ask(server, "GET", "/health", []).status == 200)
        }
    }

    @Test("The refusal of a call is a JSON-RPC response")
    func shape() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.reader)
            let response = try await ask(server, "POST", "/rpc", [Self.json], body: Self.info)
            #expect(response.body.hasPrefix(#"{"jsonrpc":"2.0","id":null,"error":{"code":16,"message":"#))
            #expect(response["content-type"] == "application/json")
        }
    }

    @Test("A key lets in, by its scheme in any case")
    func scheme() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.reader)
            for scheme in ["Bearer ", "bearer ", "BEARER ", "Bearer   "] {
                for name in ["Authorization", "authorization"] {
                    let fields = [Self.json, "\(name): \(scheme)\(key)"]
                    let response = try await ask(server, "POST", "/rpc", fields, body: Self.info)
                    #expect(response.body.contains(#""result""#), "\(fields)")
                }
                #expect(try await ask(server, "GET", "/openrpc.json", ["Authorization: \(scheme)\(key) "]).status == 200)
            }
        }
    }

    @Test("What is no key, or no key of this server, is refused, and not shown")
    func hostile() async throws {
        try await withServer(.standard.with(\.maximumFailedAttempts, 1_000)) { server in
            let key = try await server.makeKey(.admin)
            let foreign = try await AccessKeys().create(.init(role: .admin)).text
            let fields: [(String, Int)] = [
                ("Bearer", 401), ("Bearer ", 401), ("Bearer \(foreign)", 401), ("Bearer \(key)x", 401),
                ("Bearer \(key.dropLast())", 401), ("Bearer \(key.uppercased())", 401), ("Bearer \(key) \(key)", 401),
                ("Bearer \(key),", 401), ("Bearer \"\(key)\"", 401), ("Bearer:\(key)", 401), ("Bearer\t\(key)", 401),
                ("Basic \(key)", 401), (key, 401), ("Bearer ключ", 401), ("Bearer \(key)\u{301}", 401),
                ("Bearer \(String(repeating: "a", count: 30_000))", 401),
                ("Bearer \(String(repeating: "a", count: 40_000))", 431),
            ]
            for (field, status) in fields {
                let response = try await ask(server, "POST", "/rpc", [Self.json, "Authorization: \(field)"], body: Self.info)
                #expect(response.status == status, "\(field.prefix(100))")
                if status == 401 { #expect(response["www-authenticate"]?.hasPrefix("Bearer realm") == true) }
                for secret in [key, foreign] { #expect(!response.body.contains(secret.suffix(64))) }
            }
        }
    }

    @Test("Bytes that are not UTF-8 are no key")
    func bytes() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.admin)
            try await withConnection(to: server) { connection in
                try await connection.send(
                    Array("GET /openrpc.json HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ".utf8) + [0xff, 0xfe, 0x80]
                        + Array("\r\n\r\n".utf8)
                )
                let status = try await connection.response().status
                #expect(status == 401 || status == 400)
            }
        }
    }

    @Test("Two keys are one too many, also the same twice")
    func two() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.admin)
            for other in [key, "x", ""] {
                let fields = [Self.json, "Authorization: Bearer \(key)", "authorization: Bearer \(other)"]
                #expect(try await ask(server, "POST", "/rpc", fields, body: Self.info).status == 400)
            }
        }
    }

    @Test("What a key does not allow is an error of the call, in a response that is well")
    func denial() async throws {
        try await withServer { server in
            let reader = try await server.makeKey(.reader)
            let fields = [Self.json, "Authorization: Bearer \(reader)"]
            let response = try await ask(server, "POST", "/rpc", fields, body: "[\(Self.info),\(Self.write)]")
            #expect(response.status == 200)
            #expect(response.body.contains(#""result""#))
            #expect(response.body.contains(#""code":7"#))
            #expect(response.body.contains(#""status":"PERMISSION_DENIED""#))
            let watch = try await withConnection(to: server) { connection in
                let key = try await server.makeKey(.reader, collections: ["books"])
                return try await connection.ask("GET", "/watch?collection=users", ["Authorization: Bearer \(key)"])
            }
            #expect(watch.status == 403)
        }
    }

    @Test("Whatever is no call, no stream and no page needs the key of an admin")
    func others() async throws {
        try await withServer { server in
            let (writer, admin) = (try await server.makeKey(.writer), try await server.makeKey(.admin))
            for path in ["/nothing", "/administrator", "/rpc/nothing"] {
                #expect(try await ask(server, "GET", path, []).status == 401)
                #expect(try await ask(server, "GET", path, ["Authorization: Bearer \(writer)"]).status == 403)
                #expect(try await ask(server, "GET", path, ["Authorization: Bearer \(admin)"]).status == 404)
            }
        }
    }

    @Test("A key is in force as soon as it was made elsewhere, and no longer when it has expired")
    func madeElsewhere() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.admin)
            let command = try await AccessKeys.open(inFolder: server.folder, logger: .init(label: "test"))
            let text = try await command.create(.init(role: .reader)).text
            let fields = [Self.json, "Authorization: Bearer \(text)"]
            #expect(try await ask(server, "POST", "/rpc", fields, body: Self.info).status == 200)
        }
    }

    @Test("The first key is noticed by a server that runs, at once when it is shown")
    func first() async throws {
        try await withServer { server in
            let command = try await AccessKeys.open(inFolder: server.folder, logger: .init(label: "test"))
            let key = try await command.create(.init(role: .admin)).text
            let listing = #"{"jsonrpc":"2.0","id":1,"method":"keys.list"}"#
            let shown = try await ask(server, "POST", "/rpc", [Self.json, "Authorization: Bearer \(key)"], body: listing)
            #expect(shown.body.contains(#""role":"admin""#))
        }
        try await withServer { server in
            let command = try await AccessKeys.open(inFolder: server.folder, logger: .init(label: "test"))
            _ = try await command.create(.init(role: .admin))
            while try await ask(server, "POST", "/rpc", [Self.json], body: Self.info).status == 200 {}
            #expect(try await ask(server, "POST", "/rpc", [Self.json], body: Self.info).status == 401)
        }
    }

    @Test("Who shows too many keys that are not known is slowed down, and those with a key are not")
    func attempts() async throws {
        try await withServer(.standard.with(\.maximumFailedAttempts, 3)) { server in
            let key = try await server.makeKey(.reader)
            let wrong = try await AccessKeys().create(.init(role: .admin)).text
            try await withConnection(to: server) { connection in
                var statuses: [Int] = []
                // More than three where so much time passes between two that one is forgiven.
                repeat {
                    let response = try await connection.ask("GET", "/openrpc.json", ["Authorization: Bearer \(wrong)"])
                    statuses.append(response.status)
                    if response.status == 429 { #expect(response["retry-after"].flatMap { Int($0) } ?? 0 > 0) }
                } while statuses.last == 401
                #expect(statuses.last == 429)
                #expect(statuses.count > 3)
            }
            #expect(try await ask(server, "GET", "/openrpc.json", ["Authorization: Bearer \(key)"]).status == 200)
            #expect(try await ask(server, "GET", "/openrpc.json", []).status == 401)
        }
    }

    @Test("Why writes are refused is not told without a key")
    func health() async throws {
        let keys = AccessKeys()
        let route = HealthRoute(ServiceContext(store: EmptyStore(), keys: keys))
        #expect(await route.respond().body.contentLength ?? 0 > 30)
        keys.require()
        let response = await route.respond()
        #expect(response.status.code == 503)
        #expect(response.body.contentLength == #"{"status":"unavailable"}"#.utf8.count)
    }
}
