import DocumentModel
import FileStore
import FuzzedInputs
import HTTPTypes
import HearthAPI
import HummingbirdCore
import Logging
import ServerTestSupport
import StrictJSON
import Testing

@testable import HearthHTTP

@Suite("Authentication by API key", .timeLimit(.minutes(10)))
struct AuthenticationTests {
    private static let info = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
    private static let write = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{}}}"#
    private static let json = "Content-Type: application/json"

    /// Sends a request on its own connection, because an error before the body was read closes it.
    private func send(
        _ server: InProcessServer,
        _ method: String,
        _ target: String,
        _ fields: [String],
        body: String? = nil
    ) async throws -> RawResponse {
        try await withConnection(to: server) { try await $0.send(method, target, fields, body: body) }
    }

    @Test
    func `Without keys, no credentials are required and those sent are ignored`() async throws {
        try await withServer { server in
            for more in [[], ["Authorization: Bearer abc"], ["Authorization: Basic eDp5"]] {
                let response = try await send(server, "POST", "/rpc", [Self.json] + more, body: Self.write)
                #expect(response.status == 200)
            }
        }
    }

    private static let protected = [
        ("POST", "/rpc"), ("GET", "/rpc"), ("OPTIONS", "/rpc"), ("GET", "/watch?document=a/b"), ("POST", "/watch"),
        ("GET", "/openrpc.json"), ("HEAD", "/openrpc.json"), ("GET", "/administrator"), ("GET", "/nothing"),
    ]

    @Test
    func `With keys, every path except health requires one`() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.admin)
            for (method, target) in Self.protected {
                let response = try await send(server, method, target, [Self.json], body: method == "POST" ? Self.info : nil)
                #expect(response.status == 401, "\(method) \(target)")
                #expect(response["www-authenticate"] == #"Bearer realm="Hearth""#)
                guard method != "HEAD" else { continue }
                #expect(response.body.contains(#""code":16"#))
                #expect(response.body.contains(#""status":"UNAUTHENTICATED""#))
            }
            #expect(try await send(server, "GET", "/health", []).status == 200)
        }
    }

    @Test
    func `A rejected call gets a JSON-RPC response`() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.reader)
            let response = try await send(server, "POST", "/rpc", [Self.json], body: Self.info)
            #expect(response.body.hasPrefix(#"{"jsonrpc":"2.0","id":null,"error":{"code":16,"message":"#))
            #expect(response["content-type"] == "application/json")
        }
    }

    @Test
    func `The Bearer scheme is case-insensitive`() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.reader)
            for scheme in ["Bearer ", "bearer ", "BEARER ", "Bearer   "] {
                for name in ["Authorization", "authorization"] {
                    let fields = [Self.json, "\(name): \(scheme)\(key)"]
                    let response = try await send(server, "POST", "/rpc", fields, body: Self.info)
                    #expect(response.body.contains(#""result""#), "\(fields)")
                }
                #expect(try await send(server, "GET", "/openrpc.json", ["Authorization: \(scheme)\(key) "]).status == 200)
            }
        }
    }

    @Test
    func `Malformed and unknown keys are rejected and not echoed`() async throws {
        try await withServer(.standard.with(\.maximumFailedAttempts, 1_000)) { server in
            let key = try await server.makeKey(.admin)
            let foreign = try await APIKeyRegistry().create(.init(role: .admin)).text
            let fields: [(String, Int)] = [
                ("Bearer", 401), ("Bearer ", 401), ("Bearer \(foreign)", 401), ("Bearer \(key)x", 401),
                ("Bearer \(key.dropLast())", 401), ("Bearer \(key.uppercased())", 401), ("Bearer \(key) \(key)", 401),
                ("Bearer \(key),", 401), ("Bearer \"\(key)\"", 401), ("Bearer:\(key)", 401), ("Bearer\t\(key)", 401),
                ("Basic \(key)", 401), (key, 401), ("Bearer ключ", 401), ("Bearer \(key)\u{301}", 401),
                ("Bearer \(String(repeating: "a", count: 30_000))", 401),
                ("Bearer \(String(repeating: "a", count: 40_000))", 431),
            ]
            for (field, status) in fields {
                let response = try await send(server, "POST", "/rpc", [Self.json, "Authorization: \(field)"], body: Self.info)
                #expect(response.status == status, "\(field.prefix(100))")
                if status == 401 { #expect(response["www-authenticate"]?.hasPrefix("Bearer realm") == true) }
                for secret in [key, foreign] { #expect(!response.body.contains(secret.suffix(64))) }
            }
        }
    }

    @Test
    func `Invalid UTF-8 is rejected`() async throws {
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

    @Test
    func `Several Authorization headers are rejected`() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.admin)
            for other in [key, "x", ""] {
                let fields = [Self.json, "Authorization: Bearer \(key)", "authorization: Bearer \(other)"]
                #expect(try await send(server, "POST", "/rpc", fields, body: Self.info).status == 400)
            }
        }
    }

    @Test
    func `A call that the key does not permit fails, with status 200`() async throws {
        try await withServer { server in
            let reader = try await server.makeKey(.reader)
            let fields = [Self.json, "Authorization: Bearer \(reader)"]
            let response = try await send(server, "POST", "/rpc", fields, body: "[\(Self.info),\(Self.write)]")
            #expect(response.status == 200)
            #expect(response.body.contains(#""result""#))
            #expect(response.body.contains(#""code":7"#))
            #expect(response.body.contains(#""status":"PERMISSION_DENIED""#))
            let watch = try await withConnection(to: server) { connection in
                let key = try await server.makeKey(.reader, collections: ["books"])
                return try await connection.send("GET", "/watch?collection=users", ["Authorization: Bearer \(key)"])
            }
            #expect(watch.status == 403)
        }
    }

    @Test
    func `Paths other than APIs and pages require the admin role`() async throws {
        try await withServer { server in
            let (writer, admin) = (try await server.makeKey(.writer), try await server.makeKey(.admin))
            for path in ["/nothing", "/administrator", "/rpc/nothing"] {
                #expect(try await send(server, "GET", path, []).status == 401)
                #expect(try await send(server, "GET", path, ["Authorization: Bearer \(writer)"]).status == 403)
                #expect(try await send(server, "GET", path, ["Authorization: Bearer \(admin)"]).status == 404)
            }
        }
    }

    @Test
    func `A key created by another process is valid immediately`() async throws {
        try await withServer { server in
            _ = try await server.makeKey(.admin)
            let command = try await APIKeyRegistry.open(.open(.keys, inFolder: server.folder), logger: .init(label: "test"))
            let text = try await command.create(.init(role: .reader)).text
            let fields = [Self.json, "Authorization: Bearer \(text)"]
            #expect(try await send(server, "POST", "/rpc", fields, body: Self.info).status == 200)
        }
    }

    @Test
    func `A running server notices the first key, immediately when it is used`() async throws {
        try await withServer { server in
            let command = try await APIKeyRegistry.open(.open(.keys, inFolder: server.folder), logger: .init(label: "test"))
            let key = try await command.create(.init(role: .admin)).text
            let listing = #"{"jsonrpc":"2.0","id":1,"method":"keys.list"}"#
            let shown = try await send(server, "POST", "/rpc", [Self.json, "Authorization: Bearer \(key)"], body: listing)
            #expect(shown.body.contains(#""role":"admin""#))
        }
        try await withServer { server in
            let command = try await APIKeyRegistry.open(.open(.keys, inFolder: server.folder), logger: .init(label: "test"))
            _ = try await command.create(.init(role: .admin))
            while try await send(server, "POST", "/rpc", [Self.json], body: Self.info).status == 200 {}
            #expect(try await send(server, "POST", "/rpc", [Self.json], body: Self.info).status == 401)
        }
    }

    @Test
    func `Requests with unknown keys are rate-limited; those with valid keys are not`() async throws {
        try await withServer(.standard.with(\.maximumFailedAttempts, 3)) { server in
            let key = try await server.makeKey(.reader)
            let wrong = try await APIKeyRegistry().create(.init(role: .admin)).text
            try await withConnection(to: server) { connection in
                var statuses: [Int] = []
                // More than three when enough time passes that an attempt is replenished.
                repeat {
                    let response = try await connection.send("GET", "/openrpc.json", ["Authorization: Bearer \(wrong)"])
                    statuses.append(response.status)
                    if response.status == 429 { #expect(response["retry-after"].flatMap { Int($0) } ?? 0 > 0) }
                } while statuses.last == 401
                #expect(statuses.last == 429)
                #expect(statuses.count > 3)
            }
            #expect(try await send(server, "GET", "/openrpc.json", ["Authorization: Bearer \(key)"]).status == 200)
            #expect(try await send(server, "GET", "/openrpc.json", []).status == 401)
        }
    }

    @Test
    func `Health omits the reason when keys are required`() async throws {
        let keys = APIKeyRegistry()
        let route = HealthRoute(ServiceContext(store: ReadOnlyEmptyStore(), keys: keys))
        #expect(await route.respond(includingReason: true).body.contentLength ?? 0 > 30)
        keys.requireKeys()
        let response = await route.respond(includingReason: true)
        #expect(response.status.code == 503)
        #expect(response.body.contentLength == #"{"status":"unavailable"}"#.utf8.count)
    }
}
