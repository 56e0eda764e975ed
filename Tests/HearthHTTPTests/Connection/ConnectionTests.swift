import DocumentModel
import HearthAPI
import HearthHTTP
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// HTTP/1 connections.
@Suite(.timeLimit(.minutes(10))) struct ConnectionTests {
    private static let call = #"{"jsonrpc":"2.0","id":1,"method":"nothing"}"#
    private static let json = "Content-Type: application/json"

    @Test(
        arguments: ["close", "Close", "foo, close"]
    )
    func `A connection is persistent until the client sends Connection: close`(value: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for _ in 0..<3 {
                    #expect(try await connection.send("GET", "/health").status == 200)
                }
                let last = try await connection.send("GET", "/health", ["Connection: \(value)"])
                #expect(last["connection"] == "close")
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test(arguments: ["/health", "/nothing", "/watch", "/a b"])
    func `Every response has a Date header, including errors`(path: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let date = try #require(try await connection.send("GET", path)["date"])
                #expect(date.wholeMatch(of: /[A-Z][a-z]{2}, \d{2} [A-Z][a-z]{2} \d{4} \d{2}:\d{2}:\d{2} GMT/) != nil)
            }
        }
    }

    @Test
    func `HTTP/1.0 connections close after the response unless keep-alive is requested`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send("GET /health HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n")
                let kept = try await connection.response()
                #expect(kept.version == "HTTP/1.0")
                #expect(kept["connection"] == "keep-alive")
                try await connection.send("GET /health HTTP/1.0\r\nHost: localhost\r\n\r\n")
                let last = try await connection.response()
                #expect(last["connection"] == "close")
                #expect(last.body == #"{"status":"ok"}"#)
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test(
        arguments: [
            ("gzip, chunked", 501), ("gzip\r\nTransfer-Encoding: chunked", 501), ("GZIP , Chunked", 501),
            ("chunked\r\nTransfer-Encoding: chunked", 400), ("Chunked", 200),
        ]
    )
    func `Transfer codings other than chunked are rejected and close the connection`(codings: String, status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let size = String(Self.call.utf8.count, radix: 16)
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nTransfer-Encoding: \(codings)\r\n\r\n"
                        + "\(size)\r\n\(Self.call)\r\n0\r\n\r\n"
                )
                let response = try await connection.response()
                #expect(response.status == status)
                #expect(response["connection"] == (status == 200 ? nil : "close"))
                #expect(response.body.contains("UNIMPLEMENTED") == (status == 501))
                if status != 200 {
                    #expect(try await connection.receiveAll().isEmpty)
                }
            }
        }
    }

    @Test(
        arguments: [
            "GET http://localhost/health HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "\r\nGET /health HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "GET /health HTTP/1.1\r\nhOsT:localhost  \r\n\r\n", "GET /health?x=%zz HTTP/1.1\r\nHost: localhost\r\n\r\n",
        ]
    )
    func `Unusual but valid requests are accepted`(request: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(request)
                let response = try await connection.response()
                #expect(response.status == 200)
            }
        }
    }

    @Test
    func `Pipelined requests are answered in order`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let bodies = (1...20).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"nothing"}"# }
                try await connection.send(bodies.map { RawConnection.request("POST", "/rpc", [Self.json], body: $0) }.joined())
                for id in 1...20 {
                    #expect(try await connection.response().body.utf8.starts(with: #"{"jsonrpc":"2.0","id":\#(id),"#.utf8))
                }
            }
        }
    }

    @Test
    func `A request can arrive byte by byte and in chunks`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for byte in RawConnection.request("POST", "/rpc", [Self.json], body: Self.call).utf8 {
                    try await connection.send([byte])
                }
                #expect(try await connection.response().status == 200)
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                for character in Self.call {
                    try await connection.send("1;x=y\r\n\(character)\r\n")
                }
                try await connection.send("0\r\nX-Trailer: 1\r\n\r\n")
                #expect(try await connection.response().body.contains(#""code":-32601"#))
            }
        }
    }

    @Test
    func `Expect: 100-continue gets an interim response`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for _ in 0..<2 {
                    try await connection.send(
                        "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(Self.call.utf8.count)\r\nExpect: 100-Continue\r\n\r\n"
                    )
                    #expect(try await connection.receive(through: "\r\n\r\n") == "HTTP/1.1 100 Continue\r\n\r\n")
                    try await connection.send(Self.call)
                    #expect(try await connection.response().status == 200)
                }
            }
        }
    }

    @Test
    func `A body that is too large is rejected, with or without a Content-Length`() async throws {
        try await withServer(limits: ServiceLimits(maximumBodyBytes: 1_000)) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 1001\r\nExpect: 100-continue\r\n\r\n"
                )
                let response = try await connection.response()
                #expect(response.status == 413)
                #expect(response["connection"] == "close")
                #expect(response.body.contains("1000 bytes"))
            }
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nTransfer-Encoding: chunked\r\n\r\n"
                )
                try await connection.send("3E9\r\n" + String(repeating: " ", count: 1_001) + "\r\n")
                #expect(try await connection.response().status == 413)
            }
            try await withConnection(to: server) { connection in
                let exact = Self.call + String(repeating: " ", count: 1_000 - Self.call.utf8.count)
                let response = try await connection.send("POST", "/rpc", [Self.json], body: exact)
                #expect(response.status == 200)
            }
        }
    }

    @Test
    func `A client that is sending a large body receives the error response`() async throws {
        // A linger timeout that no client exceeds, however slow.
        let configuration = HTTPServerConfiguration.standard.with(\.lingerTimeout, .seconds(600))
        try await withServer(configuration, limits: ServiceLimits(maximumBodyBytes: 1_000)) { server in
            try await withConnection(to: server) { connection in
                let length = 12 << 20
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(length)\r\n\r\n"
                )
                let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
                for _ in 0..<12 { try await connection.send(block) }
                #expect(try await connection.response().status == 413)
            }
        }
    }

    @Test(arguments: ["Content-Length: 99999999999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\nfffffffff\r\n"])
    func `A client that continues to send a rejected body is disconnected`(framing: String) async throws {
        let configuration = HTTPServerConfiguration.standard
            .with(\.lingerTimeout, .seconds(60)).with(\.maximumDiscardedBytes, 1 << 20)
        try await withServer(configuration, limits: ServiceLimits(maximumBodyBytes: 1_000)) { server in
            try await withConnection(to: server) { connection in
                try await connection.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\n\(framing)")
                let block = [UInt8](repeating: UInt8(ascii: " "), count: 1 << 20)
                var sentCount = 0
                while sentCount < 512, (try? await connection.send(block)) != nil { sentCount += 1 }
                // The bound, and what the buffers of both sides hold.
                #expect(sentCount < 256)
            }
        }
    }

    @Test
    func `A lingering close is limited in time`() async throws {
        try await withServer(.standard.with(\.lingerTimeout, .milliseconds(50)), limits: ServiceLimits(maximumBodyBytes: 1_000)) {
            server in
            try await withConnection(to: server) { connection in
                try await connection.send("POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: 2000\r\n\r\n")
                #expect(try await connection.response().status == 413)
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test(
        arguments: [
            "NONSENSE\r\n\r\n", "GET /health HTTP/1.1\r\nHost: localhost\r\nX\u{1}: y\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: +5\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0x5\r\n\r\nhello",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5 5\r\n\r\nhello",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5,6\r\n\r\nhello",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: +5\r\n\r\nhello",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length : 5\r\n\r\nhello",
            "GET /health HTTP/1.1\r\nHost: localhost\r\nX: a\u{0}b\r\n\r\n",
            "GET /health HTTP/1.1\r\nHost: localhost\r\n : x\r\n\r\n",
            "GET /health HTTP/9.1\r\nHost: localhost\r\n\r\n", "GET /a b HTTP/1.1\r\nHost: localhost\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        ]
    )
    func `Malformed requests get 400 and close the connection`(request: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(request)
                let response = try await connection.response()
                #expect(response.status == 400)
                #expect(response["connection"] == "close")
                #expect(response["content-type"] == "application/json")
                #expect(response["x-content-type-options"] == "nosniff")
                #expect(response.body.contains(#""error":{"code":3,"message":"The request is not well-formed"#))
                #expect(try await connection.receiveAll().isEmpty)
            }
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/health")
                #expect(response.status == 200)
            }
        }
    }

    @Test(
        arguments: [
            "+5\r\nhello\r\n0\r\n\r\n", "-5\r\nhello\r\n0\r\n\r\n", "0x5\r\nhello\r\n0\r\n\r\n", "g\r\n", "\r\n", ";a\r\n",
            "5\r\nhelloX", "5\r\nhello\nX", "5 5\r\nhello\r\n0\r\n\r\n", "٥\r\n",
        ]
    )
    func `Malformed chunks are rejected and close the connection`(chunks: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nTransfer-Encoding: chunked\r\n\r\n\(chunks)"
                )
                // More of the body, which is discarded.
                try? await connection.send(String(repeating: "x", count: 5_000))
                let response = try await connection.response()
                #expect(response.status == 400)
                #expect(response["connection"] == "close")
                connection.finishSending()
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `A body that contains a request is not parsed as one (request smuggling)`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let hidden = "GET /openrpc.json HTTP/1.1\r\nHost: localhost\r\n\r\n"
                try await connection.send(RawConnection.request("POST", "/rpc", [Self.json], body: hidden))
                let size = String(hidden.utf8.count, radix: 16).uppercased()
                try await connection.send(
                    "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nTransfer-Encoding: chunked\r\n\r\n"
                        + "000\(size);a=\"b\";c\r\n\(hidden)\r\n0\r\nX-Length: 99\r\nHost: evil.example\r\n\r\n"
                )
                try await connection.send(RawConnection.request("GET", "/health"))
                for text in ["-32700", "-32700", #"{"status":"ok"}"#] {
                    #expect(try await connection.response().body.contains(text))
                }
            }
        }
    }

    @Test(arguments: ["chunked", "gzip", "identity", ""])
    func `An HTTP/1.0 request with a transfer coding is malformed`(coding: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "GET /health HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"
                        + "POST /rpc HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\(Self.json)\r\n"
                        + "Transfer-Encoding: \(coding)\r\n\r\n"
                        + "\(String(Self.call.utf8.count, radix: 16))\r\n\(Self.call)\r\n0\r\n\r\n"
                )
                #expect(try await connection.response().status == 200)
                let response = try await connection.response()
                #expect(response.status == 400)
                #expect(response["connection"] == "close")
                connection.finishSending()
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `The response to an HTTP/1.0 call has a Content-Length and closes the connection`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "POST /rpc HTTP/1.0\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(Self.call.utf8.count)\r\n\r\n\(Self.call)"
                )
                let response = try await connection.response()
                #expect(response.version == "HTTP/1.0")
                #expect(response.status == 200)
                #expect(response["content-length"] == "\(response.body.utf8.count)")
                #expect(response["transfer-encoding"] == nil)
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `A client that half-closes its connection receives all responses completely`() async throws {
        try await withServer { server in
            let text = String(repeating: "x", count: 900_000)
            try await server.set("large/one", ["text": .string(text)])
            // The client reads nothing until the server has received the end of the requests.
            try await withConnection(to: server, receiveBuffer: 65_536) { connection in
                let get = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"large/one"}}"#
                let call = RawConnection.request("POST", "/rpc", [Self.json], body: get)
                try await connection.send(call + call + call)
                connection.finishSending()
                for _ in 0..<3 { #expect(try await connection.response().body.contains(text)) }
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test(arguments: ["NONSENSE\r\n\r\n", "GET /hea"])
    func `A client that half-closes its connection is told that its last request is malformed`(last: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let call = RawConnection.request("POST", "/rpc", [Self.json], body: Self.call)
                try await connection.send(call + call + last)
                connection.finishSending()
                for status in [200, 200, 400] { #expect(try await connection.response().status == status) }
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `A request behind the last response of a connection is not processed`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let set = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/late","fields":{}}}"#
                try await connection.send(
                    RawConnection.request("GET", "/watch?document=a/b")
                        + RawConnection.request("POST", "/rpc", [Self.json], body: set)
                )
                _ = try await connection.receive(through: "\"current\"")
                connection.finishSending()
                _ = try await connection.receiveAll()
            }
            try await withConnection(to: server) { connection in
                let get = #"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":{"path":"a/late"}}"#
                let response = try await connection.send("POST", "/rpc", [Self.json], body: get)
                #expect(response.body.contains("NOT_FOUND"))
            }
        }
    }

    @Test
    func `A body that its route does not read has no effect on the requests behind it`() async throws {
        try await withServer { server in
            for _ in 0..<30 {
                try await withConnection(to: server) { connection in
                    let call = RawConnection.request("POST", "/rpc", [Self.json], body: Self.call)
                    try await connection.send("GET /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 2\r\n\r\nx")
                    try? await connection.send("x" + call.prefix(call.utf8.count - 3))
                    #expect(try await connection.response().status == 200)
                    // The connection has been closed if the response was earlier than the second part.
                    try? await connection.send(String(call.suffix(3)))
                    connection.finishSending()
                    let rest = try? await connection.receiveAll()
                    #expect(rest?.isEmpty != false || rest?.contains("-32601") == true)
                }
            }
        }
    }

    @Test
    func `A small body can arrive long after its head, and need not arrive at all`() async throws {
        try await withServer { server in
            let request = RawConnection.request("POST", "/rpc", [Self.json], body: Self.call)
            let head = request.prefix(request.utf8.count - Self.call.utf8.count)
            try await withConnection(to: server) { connection in
                for _ in 0..<3 {
                    try await connection.send(String(head))
                    // The server processes the head in the meantime.
                    #expect(try await withConnection(to: server) { try await $0.send("GET", "/health").status } == 200)
                    try await connection.send(String(request.dropFirst(head.count)))
                    #expect(try await connection.response().body.contains("-32601"))
                }
                try await connection.send(String(request.dropLast()))
                connection.finishSending()
                #expect(try await connection.receiveAll().contains("400 Bad Request"))
            }
        }
    }

    @Test
    func `Requests can be pipelined in reads that end anywhere`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let call = RawConnection.request("POST", "/rpc", [Self.json], body: Self.call)
                let requests = Array((call + call + RawConnection.request("GET", "/health") + call).utf8)
                for length in [1, 7, 61, 400] {
                    for start in stride(from: 0, to: requests.count, by: length) {
                        try await connection.send(Array(requests[start...].prefix(length)))
                    }
                    for body in ["-32601", "-32601", #"{"status":"ok"}"#, "-32601"] {
                        #expect(try await connection.response().body.contains(body))
                    }
                }
            }
        }
    }

    @Test
    func `A malformed request is answered after the requests before it`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let call = RawConnection.request("POST", "/rpc", [Self.json], body: Self.call)
                try await connection.send(call + call + "NONSENSE\r\n\r\n")
                for status in [200, 200, 400] { #expect(try await connection.response().status == status) }
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test(
        arguments: [
            ("/health", (0..<200).map { "X-\($0): y" }, 431),
            ("/health", ["X: " + String(repeating: "y", count: 40_000)], 431),
            ("/health?" + String(repeating: "y", count: 40_000), [], 414),
        ] as [(String, [String], Int)]
    )
    func `Oversized headers get 431 and oversized targets 414`(target: String, fields: [String], status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", target, fields)
                #expect(response.status == status)
                #expect(response["connection"] == "close")
                #expect(response.body.contains(#""error":{"code":3,"#))
            }
        }
    }

    @Test(
        arguments: ["", "GET /health HT", "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Length: 9\r\n\r\n"]
    )
    func `An idle connection is closed`(prefix: String) async throws {
        try await withServer(.standard.with(\.idleTimeout, .milliseconds(50))) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(prefix)
                // When the bytes arrive after the close, the connection is reset.
                let received = try? await connection.receiveAll()
                #expect(received?.utf8.starts(with: "HTTP/1.1 200".utf8) != true)
            }
        }
    }

    @Test
    func `A connection that receives only empty lines is idle`() async throws {
        try await withServer(.standard.with(\.idleTimeout, .milliseconds(50))) { server in
            try await withConnection(to: server) { connection in
                await connection.sendUntilClosed(Array("\r\n".utf8))
            }
        }
    }

    @Test
    func `The connection of a client that does not read its response is closed`() async throws {
        try await withServer(.standard.with(\.stallTimeout, .milliseconds(100))) { server in
            try await server.set("a/b", ["text": .string(String(repeating: "x", count: 1_000_000))])
            try await withConnection(to: server, receiveBuffer: 4_096) { connection in
                let calls = (0..<12).map { #"{"jsonrpc":"2.0","id":\#($0),"method":"documents.get","params":["a/b"]}"# }
                let request = RawConnection.request("POST", "/rpc", [Self.json], body: "[\(calls.joined(separator: ","))]")
                try await connection.send(request)
                // Nothing is read until the server closes the connection.
                await connection.sendUntilClosed()
            }
        }
    }
}
