import HearthAPI
import Logging
import NIOCore
import NIOPosix
import ServerTestSupport
import Testing

@testable import HearthHTTP

/// The addresses on which a server accepts connections.
@Suite(.timeLimit(.minutes(10))) struct ListeningTests {
    @Test(.enabled(if: Self.hasIPv6Loopback), arguments: ["127.0.0.1", "localhost"])
    func `A server for this machine answers on the loopback addresses of IPv4 and IPv6`(host: String) async throws {
        try await withServer(.standard.with(\.host, host)) { server in
            for (address, name) in [("127.0.0.1", "127.0.0.1"), ("::1", "[::1]")] {
                try await withConnection(to: server, host: address) { connection in
                    let response = try await connection.send("GET", "/openrpc.json", ["Host: \(name):\(server.port)"])
                    #expect(response.status == 200)
                }
                try await withHTTP2Connection(to: server, host: address) { connection in
                    let authority = "\(name):\(server.port)"
                    let response = try await connection.request("GET", "/openrpc.json", authority: authority)
                    #expect(response.status == 200)
                }
            }
        }
    }

    @Test(arguments: ["::1", "127.0.0.2", "0.0.0.0", "::", "192.0.2.1", "data.example.org"])
    func `A server for another address listens there alone`(host: String) {
        let configuration = HTTPServerConfiguration().with(\.host, host)
        #expect(configuration.listeningAddress == host)
        #expect(configuration.secondAddress == nil)
    }

    @Test(.enabled(if: Self.hasIPv6Loopback))
    func `A port that another program uses on ::1 is logged as a warning`() async throws {
        let other = try await ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup).bind(host: "::1", port: 0).get()
        let port = try #require(other.localAddress?.port)
        let log = RecentLog()
        try await withServer(.standard.with(\.port, port), logger: Logger(label: "test") { _ in log.handler }) { server in
            #expect(server.port == port)
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/openrpc.json")
                #expect(response.status == 200)
            }
        }
        try await other.close()
        let warning = try #require(log.entries.first { $0.message.contains("loopback addresses") })
        #expect(warning.level == .warning)
        #expect(warning.details.contains { $0.name == "server.address" && $0.value == "::1" })
    }

    @Test(.enabled(if: Self.hasIPv6Loopback))
    func `Shutdown ends streams on both addresses`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { first in
                try await withConnection(to: server, host: "::1") { second in
                    for connection in [first, second] {
                        try await connection.send(RawConnection.request("GET", "/watch?document=a/b"))
                    }
                    _ = try await first.receive(through: #""current""#)
                    _ = try await second.receive(through: #""current""#)
                    await server.stopGracefully()
                    #expect(try await first.receiveAll().contains(#"{"type":"end","reason":"shutdown""#))
                    #expect(try await second.receiveAll().contains(#"{"type":"end","reason":"shutdown""#))
                }
            }
        }
    }

    @Test(.enabled(if: Self.hasIPv6Loopback))
    func `Connections on both addresses count against one limit`() async throws {
        try await withServer(.standard.with(\.maximumConnections, 1)) { server in
            try await withConnection(to: server) { idle in
                _ = try await idle.send("GET", "/health")
                try await withConnection(to: server, host: "::1") { connection in
                    let response = try await connection.send("GET", "/health")
                    #expect(response.status == 200)
                }
                #expect(try await idle.receiveAll().isEmpty)
            }
        }
    }

    private static let hasIPv6Loopback: Bool = {
        let bootstrap = ServerBootstrap(group: .singletonMultiThreadedEventLoopGroup)
        return (try? bootstrap.bind(host: "::1", port: 0).flatMap { $0.close() }.wait()) != nil
    }()
}
