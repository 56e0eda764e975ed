import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing

/// HTTP/2 connections: how they are told from HTTP/1, how much they bear, and how they end.
@Suite(.timeLimit(.minutes(10))) struct HTTP2ConnectionTests {
    @Test(arguments: 1..<24)
    func `The preface may arrive in two parts`(length: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let start = Array(HTTP2Connection.preface.utf8) + HTTP2Connection.Frame(4).bytes
                try await connection.send(Array(start[..<length]))
                try await Task.sleep(for: .milliseconds(20))
                try await connection.send(Array(start[length...]))
                // The server's SETTINGS.
                #expect(try await connection.receive(9)[3] == 4)
            }
        }
    }

    @Test(
        arguments: [
            "PUT /nothing", "POST /nothing", "PRI /nothing", "P", "PR", "PRI * HTTP/2.0\r\n\r\nSX", "PRI * HTTP/1.1\r\n\r\n",
        ]
    )
    func `Requests that begin like the preface are HTTP/1`(start: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for byte in start.utf8 { try await connection.send([byte]) }
                try await connection.send(" HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
                let response = try await connection.receiveAll()
                #expect(response.hasPrefix("HTTP/1.1 4"))
                #expect(response.contains(#"{"error":"#))
            }
        }
    }

    @Test(arguments: ["P", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r"])
    func `An incomplete preface gets 408`(start: String) async throws {
        try await withServer(.standard.with(\.headTimeout, .seconds(1))) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(start)
                #expect(try await connection.receiveAll().hasPrefix("HTTP/1.1 408"))
            }
        }
    }

    @Test
    func `Frames that are not SETTINGS after the preface end the connection`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { raw in
                try await raw.send(HTTP2Connection.preface + "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
                _ = try await raw.receiveAll()
            }
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/health")
                #expect(response.status == 200)
            }
        }
    }

    @Test
    func `10,000 PINGs are acknowledged`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let ping = HTTP2Connection.Frame(6, [UInt8](repeating: 7, count: 8)).bytes
                for _ in 0..<10 { try await connection.raw.send([UInt8](repeating: 0, count: 1_000).flatMap { _ in ping }) }
                try await connection.receivePings(10_000)
                #expect(try await connection.request("GET", "/health").status == 200)
                #expect(connection.goAway == nil)
            }
        }
    }

    @Test
    func `10,000 streams may be cancelled`() async throws {
        let routes = StreamRoutes()
        try await withServer(modules: [routes]) { server in
            try await withHTTP2Connection(to: server) { connection in
                for _ in 0..<100 {
                    var frames: [UInt8] = []
                    for _ in 0..<100 {
                        let head = try connection.head("GET", "/test/wait")
                        frames += head.bytes + connection.reset(head.stream).bytes
                    }
                    try await connection.raw.send(frames)
                }
                // Requests that are still being cancelled count toward the limit.
                while try await connection.request("GET", "/health").resetCode == 7 {}
                #expect(try await connection.request("GET", "/health").status == 200)
                #expect(connection.goAway == nil)
            }
        }
    }

    @Test
    func `Empty DATA frames are borne, but not without limit`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", "/test/echo", endsStream: false)
                let empty = connection.data("", on: head.stream).bytes
                try await connection.raw.send(head.bytes + [UInt8](repeating: 0, count: 1_000).flatMap { _ in empty })
                try await connection.send(connection.data("x", on: head.stream, endsStream: true))
                #expect(try await connection.response(on: head.stream).text == "x")
                let flood = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(flood)
                let emptyData = HTTP2Connection.Frame(0, stream: flood.stream).bytes
                await connection.raw.sendUntilClosed([UInt8](repeating: 0, count: 10_001).flatMap { _ in emptyData })
                await connection.receiveAll()
                #expect(connection.goAway?.errorCode == 11)
            }
        }
    }

    @Test
    func `A header list over 64 KiB ends the connection`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                #expect(connection.settings[6] == 64 << 10)
                #expect(connection.settings[3] == 1_000)
                // An indexed field is one byte in the header block.
                let large = try connection.encode([("x", String(repeating: "v", count: 3_000))])
                let list = try connection.encode([(":method", "GET"), (":scheme", "http"), (":path", "/health")])
                try await connection.send(.init(1, flags: 5, stream: 1, list + large + [UInt8](repeating: 0xBE, count: 5_000)))
                await connection.receiveAll()
                #expect(connection.goAway != nil)
            }
        }
    }

    @Test
    func `Requests over the limit of the server are refused`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.maximumStreams, 2)
        try await withServer(configuration, modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let (first, second) = (try connection.head("GET", "/test/wait"), try connection.head("GET", "/test/wait"))
                try await connection.send(first, second)
                #expect(try await connection.request("GET", "/health").resetCode == 7)
                try await connection.send(connection.reset(first.stream))
                while try await connection.request("GET", "/health").status != 200 {}
            }
        }
    }

    @Test
    func `Requests over the limit of the server are refused while cancelled ones are still being processed`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.maximumStreams, 1)
        let routes = StreamRoutes()
        try await withServer(configuration, modules: [routes]) { server in
            try await withHTTP2Connection(to: server) { first in
                let work = try first.head("GET", "/test/work")
                try await first.send(work)
                await routes.startedWork.wait(for: 1)
                try await first.send(first.reset(work.stream), .init(6, [UInt8](repeating: 7, count: 8)))
                try await first.receivePings(1)
                try await withHTTP2Connection(to: server) { second in
                    #expect(try await second.request("GET", "/health").resetCode == 7)
                    routes.finishedWork.increment()
                    while try await second.request("GET", "/health").status != 200 {}
                }
            }
        }
    }

    @Test
    func `A connection without open streams makes room for another one`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.maximumConnections, 2)
        try await withServer(configuration, modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { busy in
                try await withHTTP2Connection(to: server) { idle in
                    let wait = try busy.head("GET", "/test/wait")
                    try await busy.send(wait)
                    _ = try await busy.receive { $0[wait.stream]?.status }
                    #expect(try await idle.request("GET", "/health").status == 200)
                    try await withConnection(to: server) { connection in
                        let response = try await connection.send("GET", "/health")
                        #expect(response.status == 200)
                    }
                    await idle.receiveAll()
                    #expect(idle.goAway?.errorCode == 0)
                    #expect(idle.goAway?.lastStream == 1)
                    #expect(try await busy.request("GET", "/health").status == 200)
                }
            }
        }
    }

    @Test
    func `An idle connection is told to go away, unlike one with a stream`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.idleTimeout, .seconds(1))
        try await withServer(configuration, modules: [StreamRoutes()]) { server in
            // On a loaded machine, a client may be idle before it has sent its first bytes.
            var goAways: [UInt32?] = []
            while goAways.count < 20, goAways.last != .some(0) {
                let goAway = try? await withHTTP2Connection(to: server, firstRequest: "/test/wait") { busy in
                    let goAway = try await withHTTP2Connection(to: server) { idle in
                        await idle.receiveAll()
                        return idle.goAway?.errorCode
                    }
                    return try await busy.request("GET", "/health").status == 200 ? goAway : nil
                }
                goAways.append(goAway ?? nil)
            }
            #expect(goAways.last == .some(0))
        }
    }

    @Test
    func `On shutdown, streams finish, new ones are refused, and the connection closes`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let echo = try connection.head("POST", "/test/echo", endsStream: false)
                let incomplete = try connection.head("POST", "/rpc", [("content-length", "10")], endsStream: false)
                let watch = try connection.head("GET", "/watch?document=a/b")
                try await connection.send(echo, incomplete, watch)
                _ = try await connection.receive { $0[echo.stream]?.status }
                _ = try await connection.receive { $0[watch.stream]?.text.contains("current") == true ? true : nil }
                await server.stopGracefully()
                #expect(try await connection.response(on: watch.stream).text.contains(#""reason":"shutdown""#))
                #expect(try await connection.response(on: incomplete.stream).resetCode == 7)
                #expect(connection.goAway?.errorCode == 0)
                #expect(connection.goAway?.lastStream == 0x7FFF_FFFF)
                // A request that the client sent before it received GOAWAY ends alone, body or not.
                #expect(try await connection.request("GET", "/health").resetCode == 7)
                #expect(try await connection.call("[]").resetCode == 7)
                try await connection.send(connection.data("[]", on: incomplete.stream, endsStream: true))
                try await connection.send(connection.data("still answered", on: echo.stream, endsStream: true))
                #expect(try await connection.response(on: echo.stream).text == "still answered")
                await connection.receiveAll()
                #expect(connection.goAway?.errorCode == 0)
                #expect(connection.goAway?.lastStream == watch.stream)
            }
        }
    }

    @Test
    func `On shutdown, a client that does not read is disconnected after the grace period`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.shutdownGrace, .seconds(1))
        try await withServer(configuration, modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server, initialWindow: 0) { connection in
                let endless = try connection.head("GET", "/test/endless")
                try await connection.send(endless)
                _ = try await connection.receive { $0[endless.stream]?.status }
                await server.stopGracefully()
                #expect(try await connection.response(on: endless.stream).resetCode == 8)
                await connection.receiveAll()
            }
        }
    }
}
