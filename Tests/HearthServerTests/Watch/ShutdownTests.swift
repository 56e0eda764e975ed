import DocumentModel
import HearthServer
import HearthService
import StrictJSON
import Testing

/// A server that is told to stop does so, whoever is connected.
@Suite(.timeLimit(.minutes(1))) struct ShutdownTests {
    @Test("An open stream gets its end and its last chunk, and does not hold the server up")
    func openStream() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b"))
                _ = try await connection.responseHead()
                _ = try await connection.chunk()
                let current = try #require(try await connection.chunk())
                await server.stopGracefully()
                let token = try #require(current.split(separator: "\"token\":\"").last?.split(separator: "\"").first)
                #expect(try await connection.chunk() == #"{"type":"end","reason":"shutdown","token":"\#(token)"}"# + "\n")
                #expect(try await connection.chunk() == nil)
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test("Many open streams all get their end")
    func manyStreams() async throws {
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                let (openings, opened) = AsyncStream<Void>.makeStream()
                for _ in 0..<40 {
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                            _ = try await connection.receive(through: "\"current\"")
                            opened.yield()
                            let rest = try await connection.receiveAll()
                            #expect(rest.contains(#"{"type":"end","reason":"shutdown""#))
                            #expect(rest.utf8.reversed().starts(with: "\r\n0\r\n\r\n".utf8.reversed()))
                        }
                    }
                }
                _ = await openings.prefix(40).reduce(into: 0) { count, _ in count += 1 }
                await server.stopGracefully()
                try await group.waitForAll()
            }
        }
    }

    @Test("An idle connection is closed")
    func idleConnection() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.ask("GET", "/health")
                #expect(response.status == 200)
                await server.stopGracefully()
                let rest = try await connection.receiveAll()
                #expect(rest.isEmpty)
            }
        }
    }

    @Test("A stream whose client accepts nothing can't hold the server up")
    func stuckStream() async throws {
        try await withServer(.standard.with(\.shutdownGrace, .milliseconds(100))) { server in
            let fields: MapValue = ["text": .string(String(repeating: "x", count: 1_000_000))]
            for index in 0..<7 { try await server.set("a/\(index)", fields) }
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                _ = try await connection.responseHead()
                await server.stopGracefully()
                // The server closes although nothing more is read.
                await connection.sendUntilClosed()
            }
        }
    }
}
