import DocumentModel
import FuzzedInputs
import HearthAPI
import Logging
import ServerTestSupport
import Testing

@testable import HearthHTTP

/// Protection against DNS rebinding and cross-site requests.
@Suite(.timeLimit(.minutes(10))) struct HostAndOriginTests {
    @Test(
        arguments: [
            "localhost", "localhost:1", "LOCALHOST", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:80", "db.example",
            "DB.example:443", "127.0.0.1:",
        ]
    )
    func `The server's own names are accepted with any port`(host: String) async throws {
        try await withServer(.standard.with(\.allowedHosts, ["db.Example:443"])) { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/health", ["Host: \(host)"])
                #expect(response.status == 200)
            }
        }
    }

    @Test(
        arguments: [
            "evil.example", "localhost.evil.example", "localhost.", "127.0.0.1.evil.example", "localhost:80x", "[::1", "::1",
            "[::1]evil",
            "user@localhost", "0.0.0.0", "",
        ]
    )
    func `Other host names are rejected on every path`(host: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for path in ["/openrpc.json", "/rpc", "/watch?document=a/b", "/nothing"] {
                    let response = try await connection.send("GET", path, ["Host: \(host)"])
                    #expect(response.status == 421)
                }
            }
        }
    }

    @Test
    func `A health check of this machine may use any host name, but learns no reason`() async throws {
        try await withServer { server in
            try server.removeDocuments()
            try await withConnection(to: server) { connection in
                for host in ["evil.example", "check", "10.0.0.1:80", ""] {
                    let response = try await connection.send("GET", "/health", ["Host: \(host)"])
                    #expect(response.status == 503)
                    #expect(response.body == #"{"status":"unavailable"}"#)
                    let standard = try await connection.send("GET", "/health", ["Host: \(host)", "Forwarded: for=127.0.0.1"])
                    #expect(standard.status == 421)
                    let forwarded = try await connection.send("GET", "/health", ["Host: \(host)", "X-Forwarded-For: 127.0.0.1"])
                    #expect(forwarded.status == 421)
                }
                let known = try await connection.send("GET", "/health")
                #expect(known.status == 503)
                #expect(known.body.contains("was removed"))
            }
            try server.restoreDocuments()
        }
    }

    @Test
    func `The error names the host and the option that allows it`() async throws {
        try await withServer { server in
            let response = try await withConnection(to: server) { try await $0.send("GET", "/rpc", ["Host: Db.example:443"]) }
            #expect(response.body.contains(#"The host \"db.example\" is not allowed."#))
            #expect(response.body.contains("--allow-host db.example."))
        }
    }

    @Test(
        arguments: [
            ("http://evil.example/openrpc.json", 421), ("HTTP://evil.example:80/openrpc.json", 421),
            ("https://evil.example?x", 421),
            ("http://user@localhost/openrpc.json", 421), ("http:///openrpc.json", 421), ("ftp://evil.example/openrpc.json", 421),
            ("http://evil.example", 421), ("openrpc.json", 400),
            ("http://localhost/openrpc.json", 200), ("http://LOCALHOST:1/openrpc.json?x=1", 200), ("http://localhost", 404),
            ("https://[::1]/openrpc.json", 200),
        ]
    )
    func `For a target in absolute form, its authority replaces Host`(target: String, status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", target, ["Host: localhost"])
                #expect(response.status == status)
            }
        }
    }

    @Test
    func `A target in absolute form requires exactly one Host, which is ignored`() async throws {
        try await withServer { server in
            for (fields, status) in [("", 400), ("Host: a\r\nHost: b\r\n", 400), ("Host: evil.example\r\n", 200)] {
                try await withConnection(to: server) { connection in
                    try await connection.send("GET http://localhost/health HTTP/1.1\r\n\(fields)\r\n")
                    #expect(try await connection.response().status == status)
                }
            }
        }
    }

    @Test
    func `A request must have exactly one Host`() async throws {
        try await withServer { server in
            for fields in ["", "Host: localhost\r\nhost: localhost\r\n"] {
                try await withConnection(to: server) { connection in
                    try await connection.send("GET /health HTTP/1.1\r\n\(fields)\r\n")
                    #expect(try await connection.response().status == 400)
                }
            }
        }
    }

    @Test(
        arguments: [
            ("http://localhost:8080", 200), ("HTTP://LocalHost:8080", 200), ("https://localhost:8080", 200),
            ("http://localhost", 403), ("http://localhost:80801", 403), ("http://evil.example", 403), ("null", 403), ("", 403),
            ("ftp://localhost:8080", 403), ("http://localhost:8080.evil.example", 403), ("http://127.0.0.1:8080", 403),
        ]
    )
    func `Requests with another origin are rejected`(origin: String, status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for path in ["/health", "/openrpc.json"] {
                    let response = try await connection.send("GET", path, ["Host: localhost:8080", "Origin: \(origin)"])
                    #expect(response.status == status)
                }
            }
        }
    }

    @Test(
        arguments: [
            ("POST", "/rpc", "cross-site", nil, 403), ("POST", "/rpc", "Same-Site", nil, 403),
            ("POST", "/rpc", "same-origin", nil, 200),
            ("POST", "/rpc", "none", nil, 200), ("POST", "/rpc", nil, nil, 200),
            ("POST", "/rpc", "cross-site", "http://localhost", 200),
            ("POST", "/rpc", "cross-site", "http://evil.example", 403), ("POST", "/watch", "cross-site", nil, 403),
            ("GET", "/watch", "cross-site", nil, 403), ("GET", "/watch?document=a/b&timeout=1", "same-site", nil, 403),
            ("GET", "/watch", "same-origin", nil, 400), ("GET", "/health", "cross-site", nil, 200),
            ("DELETE", "/health", "cross-site", nil, 403),
        ] as [(String, String, String?, String?, Int)]
    )
    func `Cross-site requests are rejected, except for viewing pages`(
        method: String,
        target: String,
        site: String?,
        origin: String?,
        status: Int
    ) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let fields =
                    ["Content-Type: application/json"] + (site.map { ["Sec-Fetch-Site: \($0)"] } ?? [])
                    + (origin.map { ["Origin: \($0)"] } ?? [])
                let body = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
                let response = try await connection.send(method, target, fields, body: method == "GET" ? nil : body)
                #expect(response.status == status)
            }
        }
    }

    @Test(
        arguments: [
            (nil, nil, 403), ("none", nil, 403), ("cross-site", nil, 403), ("same-site", nil, 403), ("same-origin", nil, 404),
            (nil, "http://localhost", 404), ("same-origin", "http://localhost", 404), (nil, "null", 403),
            (nil, "http://evil.example", 403), ("same-origin", "http://evil.example", 403),
        ] as [(String?, String?, Int)]
    )
    func `Form submissions must prove that they are same-origin`(site: String?, origin: String?, status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for type in ["application/x-www-form-urlencoded", "text/plain", "multipart/form-data; boundary=x"] {
                    let fields =
                        ["Content-Type: \(type)"] + (site.map { ["Sec-Fetch-Site: \($0)"] } ?? [])
                        + (origin.map { ["Origin: \($0)"] } ?? [])
                    let response = try await connection.send("POST", "/rpc/docs", fields, body: "method=server.info")
                    #expect(response.status == status, "\(type)")
                }
            }
        }
    }

    @Test(
        arguments: [
            ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("localhost", true), ("0.0.0.0", false), ("::", false),
            ("192.168.0.1", false),
            ("example.com", false), ("127.evil.example", false), ("::ffff:127.0.0.1", false), ("", false),
        ]
    )
    func `Without keys, the server listens only on loopback addresses`(host: String, isAllowed: Bool) async throws {
        let keys = APIKeyRegistry()
        #expect((listenError(of: host, keys) == nil) == isAllowed)
        let (key, _) = try await keys.create(.init(role: .reader))
        #expect(listenError(of: host, keys) == nil)
        try await keys.revoke(key.id)
        #expect((listenError(of: host, keys) == nil) == isAllowed)
    }

    private func listenError(of host: String, _ keys: APIKeyRegistry) -> StatusError? {
        do throws(StatusError) {
            _ = try HTTPServer(
                configuration: .standard.with(\.host, host),
                context: ServiceContext(store: ReadOnlyEmptyStore(), keys: keys),
                modules: [],
                logger: Logger(label: "test")
            )
            return nil
        } catch {
            return error
        }
    }

    @Test
    func `The error for a port in use names the port`() async throws {
        try await withServer { server in
            var configuration = HTTPServerConfiguration()
            configuration.port = server.port
            let second = try HTTPServer(
                configuration: configuration,
                context: server.context,
                modules: [],
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let error = await #expect(throws: StatusError.self) { try await second.run() }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("\(server.port)") == true)
        }
    }
}
