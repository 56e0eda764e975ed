import DocumentModel
import HearthService
import Logging
import Testing

@testable import HearthServer

/// Who may ask: only those who call the server by its name, and no pages of other sites.
@Suite(.timeLimit(.minutes(1))) struct HostAndOriginTests {
    @Test(
        "Names of this machine are taken with any port",
        arguments: [
            "localhost", "localhost:1", "LOCALHOST", "127.0.0.1", "127.0.0.1:8080", "[::1]", "[::1]:80", "db.example",
            "DB.example:443", "127.0.0.1:",
        ]
    )
    func allowedHost(host: String) async throws {
        try await withServer(.standard.with(\.allowedHosts, ["db.Example:443"])) { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("GET", "/health", ["Host: \(host)"])
                #expect(response.status == 200)
            }
        }
    }

    @Test(
        "Other names are refused on every path",
        arguments: [
            "evil.example", "localhost.evil.example", "localhost.", "127.0.0.1.evil.example", "localhost:80x", "[::1", "::1",
            "[::1]evil",
            "user@localhost", "0.0.0.0", "",
        ]
    )
    func refusedHost(host: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for path in ["/health", "/rpc", "/watch?document=a/b", "/nothing"] {
                    let response = try await connection.ask("GET", path, ["Host: \(host)"])
                    #expect(response.status == 421)
                }
            }
        }
    }

    @Test("A request has exactly one Host")
    func oneHost() async throws {
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
        "Pages of other sites are refused, the server's own are not",
        arguments: [
            ("http://localhost:8080", 200), ("HTTP://LocalHost:8080", 200), ("https://localhost:8080", 200),
            ("http://localhost", 403), ("http://localhost:80801", 403), ("http://evil.example", 403), ("null", 403), ("", 403),
            ("ftp://localhost:8080", 403), ("http://localhost:8080.evil.example", 403), ("http://127.0.0.1:8080", 403),
        ]
    )
    func origin(origin: String, status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for path in ["/health", "/openrpc.json"] {
                    let response = try await connection.ask("GET", path, ["Host: localhost:8080", "Origin: \(origin)"])
                    #expect(response.status == status)
                }
            }
        }
    }

    @Test(
        "Only loopback addresses are listened on",
        arguments: [
            ("127.0.0.1", true), ("127.1.2.3", true), ("::1", true), ("localhost", true), ("0.0.0.0", false), ("::", false),
            ("192.168.0.1", false),
            ("example.com", false), ("127.evil.example", false), ("::ffff:127.0.0.1", false), ("", false),
        ]
    )
    func listening(host: String, isAllowed: Bool) {
        var configuration = HearthServerConfiguration()
        configuration.host = host
        let error: StatusError?
        do throws(StatusError) {
            _ = try HearthServer(
                configuration: configuration,
                context: ServiceContext(store: EmptyStore()),
                logger: Logger(label: "test")
            )
            error = nil
        } catch let thrown {
            error = thrown
        }
        #expect((error == nil) == isAllowed)
    }

    @Test("A port that is taken is an error that says so")
    func takenPort() async throws {
        try await withServer { server in
            var configuration = HearthServerConfiguration()
            configuration.port = server.port
            let second = try HearthServer(
                configuration: configuration,
                context: server.context,
                logger: Logger(label: "test", factory: { _ in SwiftLogNoOpLogHandler() })
            )
            let error = await #expect(throws: StatusError.self) { try await second.run() }
            #expect(error?.code == .unavailable)
            #expect(error?.message.contains("\(server.port)") == true)
        }
    }
}
