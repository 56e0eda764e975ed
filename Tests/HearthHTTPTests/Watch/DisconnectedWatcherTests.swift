import DocumentModel
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP

/// Clients that disappear or stop reading without closing the connection.
@Suite(.timeLimit(.minutes(10))) struct DisconnectedWatcherTests {
    private static let configuration = HTTPServerConfiguration.standard
        .with(\.maximumWatchers, 1)
        .with(\.stallTimeout, .seconds(1))
        .with(\.stallGrace, .seconds(1))

    @Test
    func `After the network is lost, the slot is released soon after the next heartbeat`() async throws {
        try await withServer(Self.configuration) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&heartbeat=1"))
                _ = try await connection.receive(through: #""current""#)
                try await connection.unplug()
                try await Self.waitUntilSlotIsFree(to: server)
            }
        }
    }

    @Test(arguments: ["ndjson", "sse"])
    func `A client that does not read is disconnected and its slot released`(format: String) async throws {
        try await withServer(Self.configuration) { server in
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&format=\(format)"))
                _ = try await connection.receive(through: #""current""#)
                let text = String(repeating: "x", count: 500_000)
                for number in 0..<16 as Range<Int64> {
                    try await server.set("a/b", ["text": .string(text), "number": .integer(number)])
                }
                try await Self.waitUntilSlotIsFree(to: server)
            }
        }
    }

    /// Waits until a stream is admitted by a server that allows one.
    private static func waitUntilSlotIsFree(to server: InProcessServer) async throws {
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
