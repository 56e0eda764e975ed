import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import ServerTestSupport
import StrictJSON
import Synchronization
import Testing
import UTF8Text

/// Graceful shutdown with open connections.
@Suite(.timeLimit(.minutes(10))) struct ShutdownTests {
    @Test
    func `An open stream receives its end frame and last chunk`() async throws {
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

    @Test
    func `Many open streams all receive an end frame`() async throws {
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

    @Test
    func `An idle connection is closed`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/health")
                #expect(response.status == 200)
                await server.stopGracefully()
                let rest = try await connection.receiveAll()
                #expect(rest.isEmpty)
            }
        }
    }

    @Test
    func `Shutdown does not wait for clients that keep their side of a stream open`() async throws {
        try await withServer(.standard.with(\.lingerTimeout, .seconds(600))) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b"))
                _ = try await connection.receive(through: #""current""#)
                await server.stopGracefully()
                #expect(try await connection.receiveAll().contains(#"{"type":"end","reason":"shutdown""#))
                await connection.sendUntilClosed([0])
            }
        }
    }

    @Test
    func `A stream whose client does not read cannot block shutdown`() async throws {
        try await withServer(.standard.with(\.shutdownGrace, .milliseconds(100))) { server in
            let fields: MapValue = ["text": .string(String(repeating: "x", count: 1_000_000))]
            for index in 0..<7 { try await server.set("a/\(index)", fields) }
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                _ = try await connection.responseHead()
                await server.stopGracefully()
                // The server closes the connection although the client does not read.
                await connection.sendUntilClosed()
            }
        }
    }

    @Test(arguments: [false, true])
    func `A request with an incomplete body cannot block shutdown`(isPipelined: Bool) async throws {
        // With these timeouts, only shutdown can end the connection within the test's time limit.
        try await withServer(.standard.with(\.bodyTimeout, .seconds(600)).with(\.idleTimeout, .seconds(600))) { server in
            try await withConnection(to: server) { connection in
                let first = isPipelined ? RawConnection.request("GET", "/health") : ""
                let head =
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
                try await connection.send(first + head + "Expect: 100-continue\r\n\r\n")
                if isPipelined { #expect(try await connection.response().status == 200) }
                // The server has read all that was sent: unread bytes would reset the connection.
                #expect(try await connection.receive(through: "\r\n\r\n").hasPrefix("HTTP/1.1 100 "))
                await server.stopGracefully()
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `A server that has ended releases its databases, and with them their files`() async throws {
        struct References: Sendable {
            weak var context: ServiceContext?
            weak var databases: DatabaseRegistry?
            nonisolated(unsafe) weak var store: AnyObject?

            var areReleased: Bool { context == nil && databases == nil && store == nil }
        }
        let references = Mutex(References())
        try await withServer { server in
            references.withLock {
                $0.context = server.context
                $0.databases = server.context.databases
                $0.store = server.context.store as AnyObject
            }
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/metrics")
                #expect(response.status == 200)
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b"))
                _ = try await connection.receive(through: #""current""#)
            }
        }
        // Tasks that are ending may have them for a moment.
        let deadline = ContinuousClock.now + .seconds(60)
        while !references.withLock(\.areReleased), .now < deadline { try await Task.sleep(for: .milliseconds(10)) }
        let areReleased = references.withLock(\.areReleased)
        #expect(areReleased)
    }

    @Test
    func `A request in progress is completed`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let calls = (0..<200).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"documents.set","params":["a/\#($0)",{}]}"# }
                try await connection.send(
                    RawConnection.request(
                        "POST",
                        "/rpc",
                        ["Content-Type: application/json"],
                        body: "[\(calls.joined(separator: ","))]"
                    )
                )
                while server.context.store.position.lastSequence == .zero { await Task.yield() }
                await server.stopGracefully()
                #expect(try await connection.response().body.utf8.reversed().starts(with: "}}]".utf8.reversed()))
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }
}
