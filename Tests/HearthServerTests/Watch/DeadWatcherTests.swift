import DocumentModel
import StrictJSON
import Testing

@testable import HearthServer

/// Watchers that are gone, or do as if they were, without having said so.
@Suite(.timeLimit(.minutes(5))) struct DeadWatcherTests {
    private static let configuration = HearthServerConfiguration.standard
        .with(\.maximumWatchers, 1)
        .with(\.stallTimeout, .seconds(1))

    @Test("The cable is pulled: soon after the next sign of life there is room for another stream")
    func unplugged() async throws {
        try await withServer(Self.configuration) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&heartbeat=1"))
                _ = try await connection.receive(through: #""current""#)
                try await connection.unplug()
                try await Self.untilAnotherIsLetIn(to: server)
            }
        }
    }

    @Test("A watcher that reads nothing is given up, and there is room for another stream", arguments: ["ndjson", "sse"])
    func unread(format: String) async throws {
        try await withServer(Self.configuration) { server in
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&format=\(format)"))
                _ = try await connection.receive(through: #""current""#)
                let text = String(repeating: "x", count: 500_000)
                for number in 0..<16 as Range<Int64> {
                    try await server.set("a/b", ["text": .string(text), "number": .integer(number)])
                }
                try await Self.untilAnotherIsLetIn(to: server)
            }
        }
    }

    /// Returns when there is room for a stream, of which there may be one at a time.
    private static func untilAnotherIsLetIn(to server: TestServer) async throws {
        var status = 429
        while status == 429 {
            status = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?document=x/y"))
                return try await connection.responseHead().status
            }
        }
        #expect(status == 200)
    }
}
