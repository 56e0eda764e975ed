import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import Logging
import ServerTestSupport
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import HearthHTTP

@Suite("Revocation of streams", .tags(.slow), .timeLimit(.minutes(10)))
struct StreamRevocationTests {
    private func open(_ connection: inout RawConnection, _ key: String?, format: String = "ndjson") async throws {
        let fields = key.map { ["Authorization: Bearer \($0)"] } ?? []
        try await connection.send(RawConnection.request("GET", "/watch?collection=books&heartbeat=60&format=\(format)", fields))
        #expect(try await connection.responseHead().status == 200)
        _ = try await connection.receive(through: "current")
    }

    private func watchStatus(of server: InProcessServer, _ key: String) async throws -> Int {
        try await withConnection(to: server) { connection in
            try await connection.send(
                RawConnection.request("GET", "/watch?collection=books", ["Authorization: Bearer \(key)"])
            )
            return try await connection.responseHead().status
        }
    }

    @Test(arguments: ["ndjson", "sse"])
    func `The stream of a revoked key ends with an end frame`(format: String) async throws {
        try await withServer { server in
            let (key, other) = (try await server.makeKey(.reader), try await server.makeKey(.reader))
            try await withConnection(to: server) { connection in
                try await open(&connection, key, format: format)
                try await withConnection(to: server) { second in
                    try await open(&second, other)
                    try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
                    let rest = try await connection.receiveAll()
                    #expect(!rest.contains("checkpoint"), "It does not wait for a heartbeat")
                    #expect(rest.contains(#"{"type":"end","reason":"revoked","token":""#))
                    #expect(rest.hasSuffix("0\r\n\r\n"))
                    // The stream of another key continues.
                    try await server.set("books/b", [:])
                    _ = try await second.receive(through: #""path":"books/b""#)
                }
            }
        }
    }

    @Test
    func `A stream ends when its key is revoked by another process`() async throws {
        try await withServer { server in
            let keys = try await APIKeyRegistry.open(.open(.keys, inFolder: server.folder), logger: .init(label: "test"))
            let (key, text) = try await keys.create(.init(role: .reader))
            try await withConnection(to: server) { connection in
                try await open(&connection, text)
                try await keys.revoke(key.id)
                let rest = try await connection.receiveAll()
                #expect(rest.contains(#""reason":"revoked""#) && !rest.contains("checkpoint"))
            }
        }
    }

    @Test
    func `A stream ends when its key expires`() async throws {
        try await withServer { server in
            // A lifetime that is too short for a loaded machine is doubled.
            var (seconds, status) = (2 as Int64, 0)
            while status != 200 {
                let end = try Timestamp(microseconds: Timestamp.current().microseconds + seconds * 1_000_000)
                let key = try await server.makeKey(.reader, expireTime: end)
                status = try await withConnection(to: server) { connection in
                    try await connection.send(
                        RawConnection.request("GET", "/watch?collection=books&heartbeat=60", ["Authorization: Bearer \(key)"])
                    )
                    let status = try await connection.responseHead().status
                    guard status == 200 else { return status }
                    let rest = try await connection.receiveAll()
                    #expect(rest.contains(#""reason":"revoked""#) && !rest.contains("checkpoint"))
                    #expect(Timestamp.current() >= end)
                    return status
                }
                seconds *= 2
            }
        }
    }

    @Test
    func `A stream without a key ends when the first key is created`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await open(&connection, nil)
                _ = try await server.makeKey(.admin)
                let rest = try await connection.receiveAll()
                #expect(rest.contains(#""reason":"revoked""#))
            }
        }
    }

    @Test
    func `A revoked client that does not read is disconnected`() async throws {
        // With this timeout, only the revocation can end the connection within the test's time limit.
        try await withServer(.standard.with(\.maximumWatchers, 1).with(\.stallTimeout, .seconds(600))) { server in
            let text = Value.string(String(repeating: "x", count: 200_000))
            for number in 0..<100 { try await server.set("books/b\(number)", ["text": text]) }
            let (key, other) = (try await server.makeKey(.reader), try await server.makeKey(.reader))
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                try await connection.send(
                    RawConnection.request("GET", "/watch?collection=books", ["Authorization: Bearer \(key)"])
                )
                #expect(try await connection.responseHead().status == 200)
                try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
                // The slot is released although the client has read nothing.
                while try await watchStatus(of: server, other) == 429 {}
            }
        }
    }

    @Test(arguments: [2, 64])
    func `Streams per key are limited; a stream that ends releases its slot`(limit: Int) async throws {
        var configuration = HTTPServerConfiguration.standard
        configuration.maximumWatchersPerKey = limit
        try await withServer(configuration) { server in
            let (key, other) = (try await server.makeKey(.reader), try await server.makeKey(.reader))
            try await withOpenStreams(limit - 1, key, in: server) {
                try await withConnection(to: server) { connection in
                    try await open(&connection, key)
                    let fields = ["Authorization: Bearer \(key)"]
                    let rejected = try await withConnection(to: server) {
                        try await $0.send("GET", "/watch?collection=books", fields)
                    }
                    #expect(rejected.status == 429)
                    #expect(rejected["retry-after"] == "5")
                    #expect(rejected.body.contains("The key has reached the limit of \(limit) watch streams"))
                    #expect(try await watchStatus(of: server, other) == 200)
                }
                while try await watchStatus(of: server, key) == 429 {}
            }
        }
    }

    /// Runs `body` while a number of streams of a key are open.
    private func withOpenStreams(
        _ count: Int,
        _ key: String,
        in server: InProcessServer,
        _ body: () async throws -> Void
    ) async throws {
        guard count > 0 else { return try await body() }
        try await withConnection(to: server) { connection in
            try await open(&connection, key)
            try await withOpenStreams(count - 1, key, in: server, body)
        }
    }
}
