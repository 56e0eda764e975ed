import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// Watch streams over HTTP.
@Suite(.timeLimit(.minutes(10))) struct WatchStreamTests {
    @Test
    func `A stream of newline-delimited JSON has the documented bytes`() async throws {
        try await withServer { server in
            try await server.set("books/b", ["v": .integer(1)])
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=books&heartbeat=60"))
                let head = try await connection.responseHead()
                #expect(head.status == 200)
                #expect(head["content-type"] == "application/x-ndjson")
                #expect(head["cache-control"] == "no-store")
                #expect(head["x-accel-buffering"] == "no")
                #expect(head["x-content-type-options"] == "nosniff")
                #expect(head["vary"] == "Accept")
                #expect(head["transfer-encoding"] == "chunked")
                #expect(head["content-encoding"] == nil)
                let position = server.context.store.position
                let start = try #require(position.lastCommitTime?.rfc3339)
                #expect(
                    try await connection.chunk()
                        == #"{"type":"open","epoch":"\#(position.epoch)","seq":1,"heartbeat":60,"retained":1,"time":"\#(start)"}"#
                        + "\n"
                )
                let document = try await document("books/b", in: server)
                #expect(try await connection.chunk() == #"{"type":"added","document":\#(document)}"# + "\n")
                let current = try #require(try await connection.chunk())
                #expect(
                    current
                        == #"{"type":"current","seq":1,"count":1,"time":"\#(start)","token":"\#(try token(in: current))"}"# + "\n"
                )

                _ = try await CommitWrites.call(
                    .init(writes: [
                        .set(DocumentPath("books/b"), ["v": .integer(2)]), .set(DocumentPath("other/x"), [:]),
                        .set(DocumentPath("books/a"), [:]),
                    ]),
                    in: server.context
                )
                let time = try #require(server.context.store.position.lastCommitTime?.rfc3339)
                let b = try await self.document("books/b", in: server)
                let a = try await self.document("books/a", in: server)
                let changes = try #require(try await connection.chunk())
                #expect(
                    changes == """
                        {"type":"modified","seq":2,"time":"\(time)","document":\(b),"n":1,"of":2}
                        {"type":"added","seq":2,"time":"\(time)","document":\(a),"n":2,"of":2,"token":"\(try token(in: changes))"}

                        """
                )

                try await server.delete("books/a")
                let deletion = try #require(try await connection.chunk())
                let deletionTime = try #require(server.context.store.position.lastCommitTime?.rfc3339)
                #expect(
                    deletion == """
                        {"type":"deleted","seq":3,"time":"\(deletionTime)","path":"books/a","n":1,"of":1,"token":"\(try token(in: deletion))"}

                        """
                )
            }
        }
    }

    @Test
    func `A stream of Server-Sent Events has the documented bytes`() async throws {
        try await withServer { server in
            try await server.set("books/b", ["v": .integer(1)])
            try await withConnection(to: server) { connection in
                try await connection.send(
                    RawConnection.request("GET", "/watch?document=books%2Fb", ["Accept: text/event-stream"])
                )
                let head = try await connection.responseHead()
                #expect(head["content-type"] == "text/event-stream")
                let position = server.context.store.position
                let start = try #require(position.lastCommitTime?.rfc3339)
                #expect(
                    try await connection.chunk() == """
                        event: open
                        data: {"type":"open","epoch":"\(position.epoch)","seq":1,"heartbeat":15,"retained":1,"time":"\(start)"}


                        """
                )
                let document = try await document("books/b", in: server)
                #expect(try await connection.chunk() == "event: added\ndata: {\"type\":\"added\",\"document\":\(document)}\n\n")
                let current = try #require(try await connection.chunk())
                let token = try self.token(in: current)
                #expect(
                    current == """
                        event: current
                        data: {"type":"current","seq":1,"count":1,"time":"\(start)","token":"\(token)"}
                        id: \(token)


                        """
                )
            }
        }
    }

    @Test(
        arguments: [
            ("", "*/*", "application/x-ndjson"), ("", "text/html, text/event-stream;q=0.9", "text/event-stream"),
            ("", "text/event-stream;q=0", "application/x-ndjson"), ("", "TEXT/EVENT-STREAM", "text/event-stream"),
            ("&format=sse", "*/*", "text/event-stream"), ("&format=ndjson", "text/event-stream", "application/x-ndjson"),
        ]
    )
    func `The format parameter takes precedence over Accept`(parameter: String, accept: String, type: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b\(parameter)", ["Accept: \(accept)"]))
                let head = try await connection.responseHead()
                #expect(head["content-type"] == type)
            }
        }
    }

    @Test
    func `A POST has its parameters in the body`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let body = #"{"collection": "a", "heartbeat": 60, "timeout": 3600, "format": "ndjson"}"#
                try await connection.send(RawConnection.request("POST", "/watch", ["Content-Type: application/json"], body: body))
                #expect(try await connection.responseHead().status == 200)
                #expect(try await connection.chunk()?.contains(#""heartbeat":60,"#) == true)
                #expect(try await connection.chunk()?.contains(#""type":"current""#) == true)
                try await server.set("a/b", [:])
                #expect(try await connection.chunk()?.contains(#""path":"a/b""#) == true)
            }
        }
    }

    @Test
    func `The time of a heartbeat is that of the last commit, also of one to other documents`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await server.set("x/y", [:])
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b&heartbeat=1"))
                _ = try await connection.responseHead()
                _ = try await connection.receive(through: #""type":"current""#)
                try await server.set("x/z", [:])
                let time = try #require(server.context.store.position.lastCommitTime?.rfc3339)
                _ = try await connection.receive(through: #"{"type":"checkpoint","seq":2,"count":0,"time":"\#(time)","token":"#)
            }
        }
    }

    @Test
    func `Without changes, heartbeats are sent at the requested interval`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b&heartbeat=1"))
                _ = try await connection.responseHead()
                _ = try await connection.chunk()
                let current = try #require(try await connection.chunk())
                let checkpoint = try await connection.chunk()
                #expect(checkpoint == #"{"type":"checkpoint","seq":0,"count":0,"token":"\#(try token(in: current))"}"# + "\n")
            }
        }
    }

    @Test
    func `A stream and its connection end after the requested timeout`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/watch?document=a/b&timeout=10")
                let lines = response.body.split(separator: "\n")
                try #require(lines.count == 3)
                let token = try token(in: String(lines[1]))
                #expect(lines.last.map(String.init) == #"{"type":"end","reason":"timeout","token":"\#(token)"}"#)
                #expect(try await connection.receiveAll().isEmpty)
            }
        }
    }

    @Test
    func `An HTTP/1.0 stream is not chunked and ends with the connection`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(
                    "GET /watch?document=a/b&timeout=10 HTTP/1.0\r\nHost: localhost\r\nConnection: keep-alive\r\n\r\n"
                )
                let response = try await connection.response()
                #expect(response["transfer-encoding"] == nil)
                #expect(response["connection"] == "close")
                #expect(response.body.utf8.starts(with: #"{"type":"open","#.utf8))
                #expect(response.body.utf8.reversed().starts(with: "}\n".utf8.reversed()))
            }
        }
    }

    @Test
    func `A stream resumes after a token in the query or in Last-Event-ID`() async throws {
        try await withServer { server in
            try await server.set("a/1", [:])
            let token = try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                return try self.token(
                    in: try await connection.receive(through: "\"current\"") + connection.receive(through: "}\n")
                )
            }
            try await server.set("a/2", [:])
            let foreign = ResumeToken(target: .document(try DocumentPath("a/1")), epoch: "", sequence: .zero, time: .minimum).text
            for (target, fields) in [
                ("/watch?collection=a&resume=\(token)", []), ("/watch?collection=a", ["Last-Event-ID: \(token)"]),
                ("/watch?collection=a&resume=\(foreign)", ["Last-Event-ID: \(token)"]),
            ] {
                try await withConnection(to: server) { connection in
                    try await connection.send(RawConnection.request("GET", target, fields))
                    _ = try await connection.responseHead()
                    #expect(try await connection.chunk()?.contains(#""type":"open""#) == true)
                    #expect(try await connection.chunk()?.contains(#""path":"a/2""#) == true)
                    #expect(try await connection.chunk()?.contains(#""type":"checkpoint","seq":2,"#) == true)
                }
            }
            let other = try await withConnection(to: server) { try await $0.send("GET", "/watch?collection=b&resume=\(token)") }
            #expect(other.status == 400)
        }
    }

    @Test(
        arguments: ["", "&onExpired=fail&format=sse"]
    )
    func `A token of another epoch resets the stream or fails with 410, but never for a browser`(parameters: String) async throws
    {
        try await withServer { server in
            let token = ResumeToken(
                target: .collection(try CollectionPath("a")),
                epoch: "old",
                sequence: .init(7),
                time: .minimum
            )
            .text
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&resume=\(token)\(parameters)"))
                #expect(try await connection.responseHead().status == 200)
                let received = try await connection.receive(through: "current")
                #expect(received.contains(#"{"type":"reset","reason":"restored"}"#))
            }
            let rejected = try await withConnection(to: server) { connection in
                try await connection.send("GET", "/watch?collection=a&onExpired=fail&resume=\(token)")
            }
            #expect(rejected.status == 410)
            #expect(rejected.body.contains(#""code":11"#))
            #expect(rejected.body.contains(#""data":{"status":"OUT_OF_RANGE","oldest":1}"#))
        }
    }

    @Test
    func `The stream of a deleted database ends with an error; resumed, it is reset to an empty state`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let set = #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/1","fields":{},"database":"t"}}"#
                _ = try await connection.call(set)
                let token = try await withConnection(to: server) { watcher in
                    try await watcher.send(RawConnection.request("GET", "/watch?collection=a&database=t"))
                    let token = try self.token(
                        in: try await watcher.receive(through: "\"current\"") + watcher.receive(through: "}\n")
                    )
                    _ = try await connection.call(
                        #"{"jsonrpc":"2.0","id":1,"method":"databases.delete","params":{"name":"t"}}"#
                    )
                    let rest = try await watcher.receiveAll()
                    #expect(rest.contains(#"{"type":"error","code":5,"message":"The database \"p/t\" was deleted."#))
                    #expect(rest.contains(#""data":{"status":"NOT_FOUND"}}"#) && rest.hasSuffix("0\r\n\r\n"))
                    return token
                }
                let again = try await withConnection(to: server) { watcher in
                    try await watcher.stream("/watch?collection=a&database=t&resume=\(token)", until: #""type":"current""#)
                }
                #expect(again.contains(#"{"type":"reset","reason":"restored"}"#) && again.contains(#""count":0"#))
            }
        }
    }

    @Test
    func `A recreated database streams nothing of the deleted one`() async throws {
        try await withServer { server in
            for value in ["old", "new"] {
                let seen = try await withConnection(to: server) { connection in
                    try await withConnection(to: server) { watcher in
                        try await watcher.send(RawConnection.request("GET", "/watch?collection=a&database=t"))
                        _ = try await watcher.receive(through: #""type":"current""#)
                        _ = try await connection.call(
                            #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/x","fields":{"v":"\#(value)"},"database":"t"}}"#
                        )
                        let seen = try await watcher.receive(through: #""of":1"#)
                        _ = try await connection.call(
                            #"{"jsonrpc":"2.0","id":1,"method":"databases.delete","params":{"name":"t"}}"#
                        )
                        return seen
                    }
                }
                #expect(seen.contains("\"\(value)\""))
            }
        }
    }

    @Test
    func `A change is sent immediately, regardless of later commits to other collections`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?collection=a&heartbeat=60"))
                _ = try await connection.receive(through: #""type":"current""#)
                for round in 0..<100 as Range<Int64> {
                    async let change: Void = server.set("a/x", ["v": .integer(round)])
                    async let others: Void = { for id in 0..<3 { try await server.set("b/\(id)", ["v": .integer(round)]) } }()
                    _ = try await (change, others)
                    _ = try await connection.receive(through: "\"v\":\(round)")
                }
            }
        }
    }

    @Test(
        arguments: [
            "", "document=a/b&collection=a", "document=a", "collection=a/b", "document=a/b&x=1", "document=a/b&document=a/c",
            "document=a/b&heartbeat=0", "document=a/b&heartbeat=61", "document=a/b&heartbeat=+5", "document=a/b&heartbeat=1.5",
            "document=a/b&timeout=3601", "document=a/b&timeout=", "document=a/b&format=xml", "document=a%2", "document=a/%ff",
            "document=a/b%00", "document=..%2Fb", "document=a/b&resume=junk", "document=a/b&onExpired=maybe", "document",
            "query={}", "query={", "query=books", #"query={"collection":"a","limit":-1}"#, "collectionGroup=a/b",
            "collection=a&collectionGroup=a", "collection=a&from=then", "collection=a&include=all", "collection=a&coalesce=2",
            "collection=a&limit=0",
            #"query={"collection":"a","findNearest":{"field":"v","vector":[1],"measure":"COSINE","limit":1}}"#,
        ]
    )
    func `Invalid requests are rejected before the stream starts`(query: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("GET", "/watch?\(query)")
                #expect(response.status == 400)
                #expect(response["content-type"] == "application/json")
                #expect(response.body.utf8.starts(with: #"{"error":{"code":"#.utf8))
                #expect(response["connection"] == nil)
            }
        }
    }

    @Test(
        arguments: [
            ("application/json", "{", 400), ("application/json", "[]", 400), ("text/plain", "{}", 415),
            ("application/json", #"{"document":"a/b","document":"a/c"}"#, 400),
        ]
    )
    func `Invalid POST bodies are rejected`(type: String, body: String, status: Int) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/watch", ["Content-Type: \(type)"], body: body)
                #expect(response.status == status)
            }
        }
    }

    @Test
    func `A POST body over 4 MiB is rejected`() async throws {
        try await withServer(.standard.with(\.lingerTimeout, .seconds(600))) { server in
            try await withConnection(to: server) { connection in
                let body = #"{"document":""# + String(repeating: "x", count: 4 << 20) + #""}"#
                let response = try await connection.send("POST", "/watch", ["Content-Type: application/json"], body: body)
                #expect(response.status == 413)
            }
        }
    }

    @Test(arguments: ["HEAD", "PUT", "DELETE"])
    func `HEAD and other methods are rejected`(method: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send(method, "/watch?document=a/b")
                #expect(response.status == 405)
                #expect(response["allow"] == "GET, POST, OPTIONS")
            }
        }
    }

    @Test(arguments: [true, false])
    func `A stream over the limit is rejected; a client that disconnects releases its slot`(closesImmediately: Bool) async throws
    {
        try await withServer(.standard.with(\.maximumWatchers, 1)) { server in
            try await withConnection(to: server) { connection in
                try await connection.send(RawConnection.request("GET", "/watch?document=a/b"))
                _ = try await connection.receive(through: "\"current\"")
                let rejected = try await withConnection(to: server) { try await $0.send("GET", "/watch?document=a/b") }
                #expect(rejected.status == 429)
                #expect(rejected["retry-after"] == "5")
                if closesImmediately {
                    try await connection.close()
                } else {
                    connection.finishSending()
                    _ = try await connection.receiveAll()
                }
            }
            // The server notices asynchronously; there is no heartbeat for 15 seconds.
            var status = 429
            while status == 429 {
                status = try await withConnection(to: server) { connection in
                    try await connection.send(RawConnection.request("GET", "/watch?document=a/b"))
                    return try await connection.responseHead().status
                }
            }
            #expect(status == 200)
        }
    }

    @Test
    func `Programs on this machine are exempt from the limit of streams per address`() async throws {
        try await withServer(.standard.with(\.maximumWatchersPerAddress, 1)) { server in
            try await withConnection(to: server) { first in
                _ = try await first.stream("/watch?document=a/b", until: "\"current\"")
                try await withConnection(to: server) { second in
                    let stream = try await second.stream("/watch?document=a/b", until: "\"current\"")
                    #expect(stream.contains(#""type":"open""#))
                }
            }
        }
    }

    @Test
    func `Streams per address are limited; other paths are not affected`() async throws {
        let configuration = HTTPServerConfiguration.standard
            .with(\.maximumWatchersPerAddress, 2)
            .with(\.trustedProxies, [CIDRBlock("127.0.0.1")].compactMap(\.self))
        let client = ["X-Forwarded-For: 203.0.113.7"]
        try await withServer(configuration) { server in
            try await withConnection(to: server) { first in
                try await first.send(RawConnection.request("GET", "/watch?document=a/b", client))
                _ = try await first.receive(through: "\"current\"")
                try await withConnection(to: server) { second in
                    try await second.send(RawConnection.request("GET", "/watch?document=a/b", client))
                    _ = try await second.receive(through: "\"current\"")
                    let rejected = try await withConnection(to: server) {
                        try await $0.send("GET", "/watch?document=a/b", client)
                    }
                    #expect(rejected.status == 429)
                    #expect(rejected["retry-after"] == "5")
                    #expect(rejected.body.contains("Your address 203.0.113.7 has reached the limit of 2 watch streams"))
                    #expect(rejected.body.contains("RESOURCE_EXHAUSTED"))
                    let health = try await withConnection(to: server) { try await $0.send("GET", "/health") }
                    #expect(health.status == 200)
                }
            }
        }
    }

    @Test
    func `A damaged document is reported in the initial state with its source location`() async throws {
        try await withServer { server in
            try await server.set("books/a", [:])
            try await server.set("books/b", [:])
            try server.write("{\n  \"x\": tru\n}", toFile: "documents/books/b.json")
            try await withConnection(to: server) { connection in
                let stream = try await connection.stream("/watch?collection=books", until: #""type":"current""#)
                let frames = try stream.split(separator: "\n").map { try JSONText(String($0)).root }
                #expect(frames.compactMap { $0["type"]?.string } == ["open", "added", "damaged", "current"])
                let damaged = try #require(frames.first { $0["type"]?.string == "damaged" })
                #expect(damaged["path"]?.string == "books/b")
                #expect(damaged["message"]?.string?.contains("not valid JSON") == true)
                #expect(
                    damaged["file"].map { String(decoding: $0.rawBytes, as: UTF8.self) }
                        == #"{"path":"documents/books/b.json","line":2,"column":11}"#
                )
                #expect(frames[3]["count"]?.number == .integer(1))
                #expect(!stream.contains(server.folder))
            }
        }
    }

    @Test
    func `Clients may disconnect at any time`() async throws {
        try await withServer(.standard.with(\.maximumWatchers, 40)) { server in
            for index in 0..<20 { try await server.set("a/\(index)", ["v": .integer(1)]) }
            try await withThrowingTaskGroup { group in
                for count in 0..<40 {
                    group.addTask {
                        try await withConnection(to: server) { connection in
                            try await connection.send(RawConnection.request("GET", "/watch?collection=a"))
                            _ = try await connection.receive(count * 60)
                        }
                    }
                }
                group.addTask {
                    for version in 0..<40 as Range<Int64> { try await server.set("a/\(version % 20)", ["v": .integer(version)]) }
                }
                try await group.waitForAll()
            }
            let health = try await withConnection(to: server) { try await $0.send("GET", "/health") }
            #expect(health.status == 200)
        }
    }

    @Test
    func `Values round-trip through calls and streams without breaking lines`() async throws {
        let fields = #"""
            {"array":[{"a":[1]},null],"astral":"😀𝒳","controls":"\r\n\u0000","double":1.0,"DECOMPOSED":1,"max":9223372036854775807,\#
            "min":-9223372036854775808,"nan":{"$double":"NaN"},"negativeZero":-0.0,"separators":"SEPARATORS","é":2}
            """#
            .replacing("SEPARATORS", with: "a\u{2028}b\u{2029}c\u{85}d")
            .replacing("DECOMPOSED", with: "e\u{301}")
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let set = try await connection.call(
                    #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":["a/b",\#(fields)]}"#
                )
                #expect(set.contains("result"))
                let got = try await connection.call(#"{"jsonrpc":"2.0","id":1,"method":"documents.get","params":["a/b"]}"#)
                #expect(UTF8Key(try Self.text(at: ["result", "fields"], in: got)) == UTF8Key(fields))
            }
            for format in ["ndjson", "sse"] {
                try await withConnection(to: server) { connection in
                    try await connection.send(RawConnection.request("GET", "/watch?document=a/b&format=\(format)"))
                    _ = try await connection.responseHead()
                    _ = try await connection.chunk()
                    let frame = try #require(try await connection.chunk())
                    let lines = frame.split { $0.isNewline }.map(String.init)
                    #expect(lines.count == (format == "sse" ? 2 : 1))
                    let json = format == "sse" ? String(lines[1].dropFirst("data: ".count)) : lines[0]
                    let escaped = fields.replacing("\u{2028}", with: "\\u2028").replacing("\u{2029}", with: "\\u2029")
                        .replacing("\u{85}", with: "\\u0085")
                    #expect(UTF8Key(try Self.text(at: ["document", "fields"], in: json)) == UTF8Key(escaped))
                    let read = try MapValue(json: #require(JSONText(json).root["document"]?["fields"]))
                    #expect(read == (try MapValue(json: JSONText(fields).root)))
                }
            }
        }
    }

    private static func text(at path: [UTF8Key], in json: String) throws -> String {
        let node = try path.reduce(JSONText(json).root) { node, key in try #require(node[key]) }
        return String(decoding: node.rawBytes, as: UTF8.self)
    }

    private func document(_ path: String, in server: InProcessServer) async throws -> String {
        var writer = JSONWriter()
        try await GetDocument.document(.init(path: try DocumentPath(path)), in: server.context).write(to: &writer)
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    /// Returns the resume token in a frame.
    private func token(in text: String) throws -> String {
        let start = try #require(text.firstRange(of: "\"token\":\""))
        return String(text[start.upperBound...].prefix { $0 != "\"" })
    }
}
