import DocumentModel
import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing
import UTF8Text

/// Streams of an HTTP/2 connection: requests and responses in progress at the same time.
@Suite(.timeLimit(.minutes(10))) struct HTTP2StreamTests {
    @Test
    func `A request is read while its response is written`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(head)
                // The head comes before the first part of the body.
                _ = try await connection.receive { $0[head.stream]?.status }
                for number in 1...5 {
                    try await connection.send(connection.data("part \(number) ", on: head.stream))
                    _ = try await connection.receive { responses -> Bool? in
                        responses[head.stream].flatMap { $0.text.hasSuffix("part \(number) ") ? true : nil }
                    }
                }
                try await connection.send(connection.data("", on: head.stream, endsStream: true))
                let response = try await connection.response(on: head.stream)
                #expect(response.trailer("byte-count") == "35")
                #expect(response.resetCode == nil)
            }
        }
    }

    @Test
    func `A connection with many requests leaves its event loop to others`() async throws {
        let routes = StreamRoutes()
        try await withServer(modules: [routes]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let heads = try (0..<40).map { _ in try connection.head("GET", "/test/inline") }
                for head in heads { try await connection.send(head) }
                await routes.startedWork.wait(for: 40)
                #expect(routes.inlineWork.value == 16)
                routes.finishedWork.increment()
                for head in heads { #expect(try await connection.response(on: head.stream).status == 200) }
                _ = try await connection.request("GET", "/test/inline")
                #expect(routes.inlineWork.value == 17)
            }
        }
    }

    @Test
    func `The end of a request is seen without more data, also as trailers`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(head, connection.data("abc", on: head.stream))
                _ = try await connection.receive { $0[head.stream]?.status }
                let trailers = try connection.encode([("a", "b")])
                try await connection.send(.init(1, flags: 5, stream: head.stream, trailers))
                #expect(try await connection.response(on: head.stream).trailer("byte-count") == "3")
            }
        }
    }

    @Test
    func `A response that ends early is complete, and the rest of the request is discarded`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", "/test/early", endsStream: false)
                try await connection.send(head)
                let response = try await connection.receive { responses in
                    responses[head.stream].flatMap { $0.resetCode == nil ? nil : $0 }
                }
                #expect(response.text == "early")
                #expect(response.trailer("byte-count") == "5")
                #expect(response.isComplete)
                #expect(response.resetCode == 0)
                for _ in 0..<3 {
                    try await connection.send(connection.data(String(repeating: "x", count: 16_384), on: head.stream))
                }
                try await connection.send(connection.data("", on: head.stream, endsStream: true))
                #expect(try await connection.request("GET", "/health").status == 200)
            }
        }
    }

    @Test
    func `A reset cancels the request and breaks its body, and leaves other streams alone`() async throws {
        let routes = StreamRoutes()
        try await withServer(modules: [routes]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let other = try connection.head("POST", "/test/echo", endsStream: false)
                let waiting = try connection.head("GET", "/test/wait")
                let echo = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(other, waiting, echo, connection.data("abc", on: echo.stream))
                _ = try await connection.receive { $0[waiting.stream]?.status }
                _ = try await connection.receive { $0[echo.stream]?.status }
                try await connection.send(connection.reset(waiting.stream), connection.reset(echo.stream))
                await routes.cancellations.wait(for: 1)
                await routes.brokenBodies.wait(for: 1)
                try await connection.send(connection.data("x", on: other.stream, endsStream: true))
                #expect(try await connection.response(on: other.stream).text == "x")
            }
        }
    }

    @Test
    func `The loss of a connection cancels all of its requests`() async throws {
        let routes = StreamRoutes()
        try await withServer(modules: [routes]) { server in
            try await withHTTP2Connection(to: server) { connection in
                for _ in 0..<20 { try await connection.send(try connection.head("GET", "/test/wait")) }
                _ = try await connection.receive { responses in responses.values.allSatisfy { $0.status != nil } ? true : nil }
            }
            await routes.cancellations.wait(for: 20)
        }
    }

    @Test
    func `A client that does not read a stream reads others, and the server buffers little of it`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server, initialWindow: 100_000) { connection in
                let endless = try connection.head("GET", "/test/endless")
                connection.unreadStreams = [endless.stream]
                try await connection.send(endless)
                _ = try await connection.receive { responses in
                    responses[endless.stream].flatMap { $0.body.count == 100_000 ? true : nil }
                }
                for _ in 0..<100 { #expect(try await connection.request("GET", "/openrpc.json").status == 200) }
                #expect(try await connection.receive { $0[endless.stream]?.body.count } == 100_000)
            }
        }
    }

    @Test
    func `A client that does not read a stream for the stall timeout loses only that stream`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.stallTimeout, .seconds(2))
        try await withServer(configuration, modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server, initialWindow: 0) { connection in
                let unread = try connection.head("GET", "/health")
                let endless = try connection.head("GET", "/test/endless")
                try await connection.send(unread, endless)
                #expect(try await connection.response(on: endless.stream).resetCode == 8)
                #expect(try await connection.response(on: unread.stream).resetCode == 8)
                try await connection.send(.init(6, [UInt8](repeating: 1, count: 8)))
                try await connection.receivePings(1)
            }
        }
    }

    @Test
    func `The window grows only as a body is read`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                // Its body is not read.
                let waiting = try connection.head("POST", "/test/wait", endsStream: false)
                let echo = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(waiting, echo)
                let chunk = String(repeating: "x", count: 16_383)
                for stream in [waiting.stream, echo.stream] {
                    for _ in 0..<4 {
                        try await connection.send(connection.data(chunk, on: stream))
                        connection.recordSent(16_383, on: stream)
                    }
                }
                try await connection.receiveWindow(of: echo.stream, atLeast: 900_000)
                try await connection.receiveWindow(of: 0, atLeast: 8 << 20)
                #expect(connection.windows[waiting.stream] == 3)
                // A client that ignores the window loses the connection.
                try await connection.send(connection.data(chunk, on: waiting.stream))
                let reset = try await connection.response(on: waiting.stream)
                #expect(reset.resetCode != nil)
            }
        }
    }

    @Test
    func `A large body is received through its window`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(head)
                let chunk = String(repeating: "x", count: 16_384)
                for _ in 0..<512 {
                    try await connection.receiveWindow(of: head.stream, atLeast: 16_384)
                    try await connection.receiveWindow(of: 0, atLeast: 16_384)
                    try await connection.send(connection.data(chunk, on: head.stream))
                    connection.recordSent(16_384, on: head.stream)
                }
                try await connection.send(connection.data("", on: head.stream, endsStream: true))
                let response = try await connection.response(on: head.stream)
                #expect(response.body.count == 8 << 20)
                #expect(response.trailer("byte-count") == "\(8 << 20)")
            }
        }
    }

    @Test
    func `A slow body gets 408`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.bodyTimeout, .seconds(1)).with(\.minimumBodyRate, 100)
        try await withServer(configuration) { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head("POST", "/rpc", [("content-type", "application/json")], endsStream: false)
                try await connection.send(head, connection.data("[", on: head.stream))
                let response = try await connection.response(on: head.stream)
                #expect(response.status == 408)
                #expect(try await connection.request("GET", "/health").status == 200)
            }
        }
    }

    @Test
    func `A thousand watch streams share a connection`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.maximumWatchers, 2_000)
        try await withServer(configuration) { server in
            try await withHTTP2Connection(to: server) { connection in
                var streams: [UInt32] = []
                for number in 0..<999 {
                    let watch = try connection.head("GET", "/watch?document=a/d\(number % 10)")
                    try await connection.send(watch)
                    streams.append(watch.stream)
                }
                for stream in streams { try await connection.receive(#""type":"current""#, on: stream) }
                for number in 0..<10 { try await server.set("a/d\(number)", ["x": .integer(7)]) }
                for stream in streams { try await connection.receive(#""fields":{"x":7}"#, on: stream) }
                // One more fits, for calls.
                #expect(try await connection.request("GET", "/health").status == 200)
            }
        }
    }

    @Test
    func `A watch stream ends with its slot when it is reset`() async throws {
        let configuration = HTTPServerConfiguration.standard.with(\.maximumWatchers, 1)
        try await withServer(configuration) { server in
            try await withHTTP2Connection(to: server) { connection in
                for _ in 0..<3 {
                    let watch = try connection.head("GET", "/watch?document=a/b")
                    try await connection.send(watch)
                    try await connection.receive("current", on: watch.stream)
                    #expect(try await connection.request("GET", "/watch?document=a/b").status == 429)
                    try await connection.send(connection.reset(watch.stream))
                    while try await connection.request("GET", "/watch?document=").status == 429 {}
                }
            }
        }
    }
}

extension HTTP2Connection {
    /// Receives frames until the body of a stream contains a text.
    fileprivate mutating func receive(_ text: String, on stream: UInt32) async throws {
        _ = try await receive { responses in responses[stream].flatMap { $0.text.contains(text) ? $0 : nil } }
    }
}
