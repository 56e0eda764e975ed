import DocumentModel
import DocumentStore
import HearthService
import Logging
import StrictJSON
import Testing

@testable import HearthServer

/// What becomes of a stream whose key is no longer valid.
@Suite("Streams of revoked keys", .timeLimit(.minutes(1)))
struct RevocationTests {
    private func open(_ connection: inout RawConnection, _ key: String?, format: String = "ndjson") async throws {
        let fields = key.map { ["Authorization: Bearer \($0)"] } ?? []
        try await connection.send(RawConnection.request("GET", "/watch?collection=books&format=\(format)", fields))
        #expect(try await connection.responseHead().status == 200)
        _ = try await connection.receive(through: "current")
    }

    private func watchStatus(of server: TestServer, _ key: String) async throws -> Int {
        try await withConnection(to: server) { connection in
            try await connection.send(
                RawConnection.request("GET", "/watch?collection=books", ["Authorization: Bearer \(key)"])
            )
            return try await connection.responseHead().status
        }
    }

    @Test("A revoked key's stream ends with a frame that says so, within five seconds", arguments: ["ndjson", "sse"])
    func revoked(format: String) async throws {
        try await withServer { server in
            let (key, other) = (try await server.makeKey(.reader), try await server.makeKey(.reader))
            try await withConnection(to: server) { connection in
                try await open(&connection, key, format: format)
                try await withConnection(to: server) { second in
                    try await open(&second, other)
                    let start = ContinuousClock.now
                    try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
                    let rest = try await connection.receiveAll()
                    #expect(ContinuousClock.now - start < .seconds(5))
                    #expect(rest.contains(#"{"type":"end","reason":"revoked","token":""#))
                    #expect(rest.hasSuffix("0\r\n\r\n"))
                    // Another key's stream goes on.
                    try await server.set("books/b", [:])
                    _ = try await second.receive(through: #""path":"books/b""#)
                }
            }
        }
    }

    @Test("So it does when the key was revoked by a command")
    func elsewhere() async throws {
        try await withServer { server in
            let keys = try await AccessKeys.open(inFolder: server.folder, logger: .init(label: "test"))
            let (key, text) = try await keys.create(.init(role: .reader))
            try await withConnection(to: server) { connection in
                try await open(&connection, text)
                try await keys.revoke(key.id)
                let start = ContinuousClock.now
                #expect(try await connection.receiveAll().contains(#""reason":"revoked""#))
                #expect(ContinuousClock.now - start < .seconds(5))
            }
        }
    }

    @Test("So it does when the key expires")
    func expiry() async throws {
        try await withServer { server in
            let end = try Timestamp(microseconds: Timestamp.current().microseconds + 15_000_000)
            let key = try await server.makeKey(.reader, expireTime: end)
            try await withConnection(to: server) { connection in
                try await open(&connection, key)
                #expect(try await connection.receiveAll().contains(#""reason":"revoked""#))
                #expect(Timestamp.current() >= end)
            }
        }
    }

    @Test("A stream that was begun without a key ends when there are keys")
    func firstKey() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await open(&connection, nil)
                _ = try await server.makeKey(.admin)
                #expect(try await connection.receiveAll().contains(#""reason":"revoked""#))
            }
        }
    }

    @Test("Who does not read is not waited for")
    func stalled() async throws {
        try await withServer(.standard.with(\.maximumWatchers, 1)) { server in
            let text = Value.string(String(repeating: "x", count: 200_000))
            for number in 0..<100 { try await server.set("books/b\(number)", ["text": text]) }
            let (key, other) = (try await server.makeKey(.reader), try await server.makeKey(.reader))
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                try await connection.send(
                    RawConnection.request("GET", "/watch?collection=books", ["Authorization: Bearer \(key)"])
                )
                #expect(try await connection.responseHead().status == 200)
                let start = ContinuousClock.now
                try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
                // There is room for another stream when this one is over, though nothing of it was read.
                while try await watchStatus(of: server, other) == 429 {}
                #expect(ContinuousClock.now - start < .seconds(5))
            }
        }
    }

    @Test("One key has 64 streams, or as many as is said, and no more; one that ends makes room", arguments: [nil, 2])
    func limit(limit: Int?) async throws {
        var configuration = HearthServerConfiguration.standard
        configuration.maximumWatchersPerAddress = 128
        if let limit { configuration.maximumWatchersPerKey = limit }
        try await withServer(configuration) { server in
            let (key, other) = (try await server.makeKey(.reader), try await server.makeKey(.reader))
            try await holding((limit ?? 64) - 1, key, in: server) {
                try await withConnection(to: server) { connection in
                    try await open(&connection, key)
                    let fields = ["Authorization: Bearer \(key)"]
                    let refused = try await withConnection(to: server) {
                        try await $0.ask("GET", "/watch?collection=books", fields)
                    }
                    #expect(refused.status == 429)
                    #expect(refused["retry-after"] == "5")
                    #expect(refused.body.contains("The key has \(limit ?? 64) streams open"))
                    #expect(try await watchStatus(of: server, other) == 200)
                }
                while try await watchStatus(of: server, key) == 429 {}
            }
        }
    }

    /// Runs `body` while so many streams of a key are open.
    private func holding(_ count: Int, _ key: String, in server: TestServer, _ body: () async throws -> Void) async throws {
        guard count > 0 else { return try await body() }
        try await withConnection(to: server) { connection in
            try await open(&connection, key)
            try await holding(count - 1, key, in: server, body)
        }
    }
}
