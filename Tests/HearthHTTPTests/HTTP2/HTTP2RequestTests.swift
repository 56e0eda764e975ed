import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing

/// Requests over HTTP/2, and their responses.
@Suite(.timeLimit(.minutes(10))) struct HTTP2RequestTests {
    private static let json = [("content-type", "application/json")]

    @Test
    func `One port serves HTTP/1 and HTTP/2`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { http1 in
                try await withHTTP2Connection(to: server) { http2 in
                    let response = try await http2.request("GET", "/health")
                    #expect(response.status == 200)
                    #expect(response.text == #"{"status":"ok"}"#)
                    #expect(try await http1.send("GET", "/health").body == response.text)
                }
            }
        }
    }

    @Test
    func `Calls, pages of errors and documents are the same as over HTTP/1`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { http1 in
                try await withHTTP2Connection(to: server) { http2 in
                    let set = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/b","fields":{"x":1}}}"#
                    #expect(try await http2.call(set).text.contains("updateTime"))
                    for path in ["/openrpc.json", "/nothing", "/v1/projects/p/databases/(default)/documents/a/b", "/watch"] {
                        let first = try await http1.send("GET", path)
                        let second = try await http2.request("GET", path)
                        #expect(second.status == first.status, "\(path)")
                        #expect(second.text == first.body, "\(path)")
                        for name in ["content-type", "content-length", "cache-control", "etag", "x-content-type-options"] {
                            #expect(second[name] == first[name], "\(name) of \(path)")
                        }
                        #expect(second["date"] != nil)
                        #expect(second["connection"] == nil)
                    }
                }
            }
        }
    }

    @Test
    func `Fields that belong to a connection are not sent`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.request("GET", "/test/fields")
                #expect(response["etag"] == "\"a\"")
                #expect(response["connection"] == nil)
                #expect(response["upgrade"] == nil)
                #expect(response["content-length"] == "0")
            }
        }
    }

    @Test
    func `A response to HEAD has no body, and its stream ends`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let health = try await connection.request("HEAD", "/health")
                #expect(health.status == 200)
                #expect(health["content-length"] == "15")
                #expect(health.body.isEmpty)
                let document = try await connection.request("HEAD", "/test/trailers")
                #expect(document.body.isEmpty)
                #expect(document.resetCode == nil)
            }
        }
    }

    @Test
    func `Trailers are sent over HTTP/2, and over HTTP/1 behind a chunked body`() async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.request("GET", "/test/trailers")
                #expect(response.text == "body")
                #expect(response.trailer("byte-count") == "4")
            }
            try await withConnection(to: server) { connection in
                try await connection.send("GET /test/trailers HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
                #expect(try await connection.receiveAll().hasSuffix("4\r\nbody\r\n0\r\nbyte-count: 4\r\n\r\n"))
            }
        }
    }

    @Test(
        arguments: [("evil.example", 421), ("localhost:99", 200), ("127.0.0.1", 200), ("", 421)]
    )
    func `The authority is checked as the host is`(authority: String, status: Int) async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let response = try await connection.request("GET", "/openrpc.json", authority: authority)
                #expect(response.status == status)
            }
        }
    }

    @Test(arguments: [("localhost", 200), ("evil.example", 400)])
    func `A Host field must not differ from the authority`(host: String, status: Int) async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                #expect(try await connection.request("GET", "/openrpc.json", [("host", host)]).status == status)
                let head = try connection.head([
                    (":method", "GET"), (":scheme", "http"), (":path", "/openrpc.json"), ("host", host),
                ])
                try await connection.send(head)
                #expect(try await connection.response(on: head.stream).status == (status == 200 ? 200 : 421))
            }
        }
    }

    @Test(
        arguments: [
            [(":method", "GET"), (":scheme", "http"), (":authority", "localhost")],
            [(":scheme", "http"), (":path", "/health"), (":authority", "localhost")],
            [(":method", "GET"), (":path", "/health"), (":authority", "localhost")],
            [(":method", "GET"), (":method", "GET"), (":scheme", "http"), (":path", "/health")],
            [(":method", "GET"), (":scheme", "http"), (":path", ""), (":authority", "localhost")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/health"), (":unknown", "1")],
            [(":method", "GET"), (":scheme", "http"), ("a", "b"), (":path", "/health")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/health"), ("connection", "close")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/health"), ("Upper", "case")],
            [(":method", "GET"), (":scheme", "http"), (":path", "/health"), ("a", "b\r\nc: d")],
        ]
    )
    func `A malformed head resets its stream, and leaves others open`(list: [(String, String)]) async throws {
        try await withServer(modules: [StreamRoutes()]) { server in
            try await withHTTP2Connection(to: server) { connection in
                let open = try connection.head("POST", "/test/echo", endsStream: false)
                try await connection.send(open)
                let malformed = try connection.head(list)
                try await connection.send(malformed)
                #expect(try await connection.response(on: malformed.stream).resetCode == 1)
                try await connection.send(connection.data("still here", on: open.stream, endsStream: true))
                #expect(try await connection.response(on: open.stream).text == "still here")
            }
        }
    }

    @Test
    func `Methods and targets without a route are answered`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                #expect(try await connection.request("GET", "*").status == 404)
                #expect(try await connection.request("BREW", "/health").status == 405)
                #expect(try await connection.request("GET", "/health#part").status == 400)
                let connect = try connection.head([(":method", "CONNECT"), (":authority", "localhost:80")], endsStream: false)
                try await connection.send(connect)
                #expect(try await connection.response(on: connect.stream).status == 404)
            }
        }
    }

    @Test(arguments: [(1, 40 << 10, 431), (100, 10, 200), (101, 10, 431), (1, 10 << 10, 200)])
    func `Large header lists are rejected, with a response`(count: Int, size: Int, status: Int) async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                var fields = [("content-type", "application/json")]
                for index in 1..<count { fields.append(("x-\(index)", String(repeating: "v", count: size))) }
                if count == 1 { fields = [("x", String(repeating: "v", count: size))] }
                let head = try connection.head("GET", "/health", fields)
                // In a HEADERS frame and CONTINUATION frames.
                let chunks = stride(from: 0, to: head.payload.count, by: 16_384).map { start in
                    Array(head.payload[start..<min(start + 16_384, head.payload.count)])
                }
                for (index, chunk) in chunks.enumerated() {
                    let endFlag: UInt8 = index == chunks.count - 1 ? 4 : 0
                    try await connection.send(
                        .init(index == 0 ? 1 : 9, flags: (index == 0 ? 1 : 0) | endFlag, stream: head.stream, chunk)
                    )
                }
                let response = try await connection.response(on: head.stream)
                #expect(response.status == status)
                #expect(try await connection.request("GET", "/health").status == 200)
            }
        }
    }

    @Test
    func `A body over the limit is rejected before it has been sent, and its rest is discarded`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let head = try connection.head(
                    "POST",
                    "/rpc",
                    Self.json + [("content-length", "100000000")],
                    endsStream: false
                )
                try await connection.send(head, connection.data("[", on: head.stream))
                let response = try await connection.response(on: head.stream)
                #expect(response.status == 413)
                // What the client has sent before it learns of the reset.
                try await connection.send(connection.data(String(repeating: " ", count: 16_384), on: head.stream))
                #expect(try await connection.request("GET", "/health").status == 200)
            }
        }
    }

    @Test
    func `A client that expects 100 Continue gets it, unless the body is too large`() async throws {
        try await withServer { server in
            try await withHTTP2Connection(to: server) { connection in
                let call = #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#
                let expectation = Self.json + [("expect", "100-continue")]
                let head = try connection.head("POST", "/rpc", expectation, endsStream: false)
                try await connection.send(head)
                _ = try await connection.receive { $0[head.stream]?.informationalStatuses.first }
                try await connection.send(connection.data(call, on: head.stream, endsStream: true))
                let response = try await connection.response(on: head.stream)
                #expect(response.informationalStatuses == [100])
                #expect(response.status == 200)
                let large = try connection.head(
                    "POST",
                    "/rpc",
                    expectation + [("content-length", "100000000")],
                    endsStream: false
                )
                try await connection.send(large)
                let rejection = try await connection.response(on: large.stream)
                #expect(rejection.informationalStatuses.isEmpty)
                #expect(rejection.status == 413)
            }
        }
    }

    @Test
    func `Keys are checked, also when a cookie is split into several fields`() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.reader)
            try await withHTTP2Connection(to: server) { connection in
                let info = #"{"jsonrpc":"2.0","id":1,"method":"server.info"}"#
                let rejection = try await connection.call(info)
                #expect(rejection.status == 401)
                let fields = Self.json + [("authorization", "Bearer \(key)"), ("cookie", "a=b"), ("cookie", "c=d")]
                #expect(try await connection.request("POST", "/rpc", fields, body: info).status == 200)
            }
        }
    }
}
