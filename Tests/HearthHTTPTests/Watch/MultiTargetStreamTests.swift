import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import JSONRPC
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

/// Watch streams with several targets.
@Suite("Streams with several targets", .timeLimit(.minutes(10))) struct MultiTargetStreamTests {
    /// A client of one stream, which reads its frames in a short form.
    private struct Watcher {
        var connection: RawConnection
        let server: InProcessServer
        private var lines: ArraySlice<Substring> = []
        private(set) var id = ""
        private(set) var token = ""

        init(_ connection: RawConnection, _ server: InProcessServer, _ body: String) async throws {
            self.connection = connection
            self.server = server
            try await self.connection.send(
                RawConnection.request("POST", "/watch", ["Content-Type: application/json"], body: body)
            )
            let head = try await self.connection.responseHead()
            try #require(head.status == 200)
            #expect(head["content-type"] == "application/x-ndjson")
        }

        /// Returns the next frame; `nil` at the end.
        mutating func frame() async throws -> String? {
            while lines.isEmpty {
                guard let chunk = try await connection.chunk() else { return nil }
                lines = chunk.split(separator: "\n")[...]
            }
            let frame = try JSONText(Array(lines.removeFirst().utf8)).root
            func ids(_ name: UTF8Key) -> String {
                guard let elements = frame[name]?.elements else { return "" }
                return elements.map { String(decoding: $0.rawBytes, as: UTF8.self) }.sorted().joined(separator: " ")
            }
            token = frame["token"]?.string ?? token
            let target = frame["target"].map { " " + String(decoding: $0.rawBytes, as: UTF8.self) } ?? ""
            switch frame["type"]?.string {
            case "open":
                id = try #require(frame["stream"]?.string)
                return "open"
            case "changed":
                let path = frame["document"]?["path"]?.string ?? ""
                return "\(path) in \(ids("targets"))" + (frame["removedTargets"] == nil ? "" : " out \(ids("removedTargets"))")
            case "deleted": return "\(frame["path"]?.string ?? "") deleted \(ids("removedTargets"))"
            case "targetRemoved":
                return "removed\(target)" + (frame["error"]?["data"]?["status"]?.string.map { " \($0)" } ?? "")
            case let type:
                let status = frame["data"]?["status"]?.string
                return "\(type ?? "")\(target)" + ((frame["reason"]?.string ?? status).map { " \($0)" } ?? "")
            }
        }

        /// Returns the frames through the next snapshot, without the frames that only repeat the last one.
        mutating func snapshot() async throws -> [String] {
            var frames: [String] = []
            while let frame = try await frame() {
                frames.append(frame)
                if frame == "snapshot" { break }
            }
            return frames
        }

        func call(_ method: String, _ targets: String) async throws -> RawResponse {
            try await withConnection(to: server) { connection in
                let params = #"{"stream":"\#(id)","targets":\#(targets)}"#
                return try await connection.send(
                    "POST",
                    "/rpc",
                    ["Content-Type: application/json"],
                    body: #"{"jsonrpc":"2.0","id":1,"method":"watch.\#(method)","params":\#(params)}"#
                )
            }
        }
    }

    private func withWatcher(
        of body: String,
        on server: InProcessServer,
        _ use: (inout Watcher) async throws -> Void
    ) async throws {
        try await withConnection(to: server) { connection in
            var watcher = try await Watcher(connection, server, body)
            try await use(&watcher)
        }
    }

    @Test
    func `All targets show the same commit, and a document is sent once for all of them`() async throws {
        try await withServer { server in
            try await server.set("books/a", ["n": .integer(1)])
            let query = #"{"id":3,"query":{"collection":"books","limit":1}}"#
            let body = #"{"targets":[{"id":1,"collection":"books"},{"id":2,"document":"books/b"},\#(query)]}"#
            try await withWatcher(of: body, on: server) { watcher throws in
                #expect(
                    try await [watcher.snapshot(), watcher.snapshot(), watcher.snapshot()] == [
                        ["open", "books/a in 1", "current 1", "snapshot"], ["books/b deleted 2", "current 2", "snapshot"],
                        ["books/a in 3", "current 3", "snapshot"],
                    ]
                )
                _ = try await CommitWrites.call(
                    .init(writes: [.set(DocumentPath("books/b"), [:]), .delete(DocumentPath("books/a"))]),
                    in: server.context
                )
                #expect(try await watcher.snapshot().sorted() == ["books/a deleted 1 3", "books/b in 1 2 3", "snapshot"])
            }
        }
    }

    @Test
    func `Streams with the same targets, opened while documents are written, receive each document once and in order`()
        async throws
    {
        let count = 100
        try await withServer { server in
            try await withThrowingTaskGroup { group in
                group.addTask {
                    for number in 0..<count {
                        try await server.set("books/d\(number)", [:])
                        try await server.set("other/x", ["n": .integer(Int64(number))])
                    }
                    try await server.set("books/last", [:])
                }
                let bodies = [
                    #"{"targets":[{"id":1,"collection":"books"}]}"#,
                    #"{"targets":[{"id":1,"collection":"books"},{"id":2,"document":"other/x"}]}"#,
                ]
                for stream in 0..<16 {
                    group.addTask {
                        try await withWatcher(of: bodies[stream % 2], on: server) { watcher throws in
                            var documents: [String] = []
                            while documents.last != "books/last in 1" {
                                documents += try await watcher.snapshot().filter { $0.hasPrefix("books/") }
                            }
                            #expect(documents.count == count + 1)
                            #expect(Set(documents).count == documents.count)
                        }
                    }
                }
                try await group.waitForAll()
            }
        }
    }

    @Test
    func `Calls add and remove targets of an open stream, whose state is as of the commit that all targets show`() async throws {
        try await withServer { server in
            try await server.set("books/a", [:])
            try await withWatcher(of: #"{"targets":[]}"#, on: server) { watcher throws in
                #expect(try await watcher.frame() == "open")
                #expect(try await watcher.call("addTargets", #"[{"id":7,"collection":"books"}]"#).body.contains(#""result":{}"#))
                #expect(try await watcher.snapshot() == ["books/a in 7", "current 7", "snapshot"])
                _ = try await watcher.call("removeTargets", "[7, 99]")
                #expect(try await watcher.frame() == "removed 7")
                _ = try await watcher.call("addTargets", #"[{"id":8,"collectionGroup":"books"}]"#)
                #expect(try await watcher.snapshot() == ["books/a in 8", "current 8", "snapshot"])
            }
        }
    }

    @Test
    func `A target that cannot be watched ends alone, with its error`() async throws {
        try await withServer { server in
            let body = #"{"targets":[{"id":1,"query":{"collection":"books","limit":-1}},{"id":2,"collection":"books"},{"id":3}]}"#
            try await withWatcher(of: body, on: server) { watcher throws in
                #expect(
                    try await watcher.snapshot() == [
                        "open", "removed 1 INVALID_ARGUMENT", "removed 3 INVALID_ARGUMENT", "current 2", "snapshot",
                    ]
                )
                let error = try await watcher.call("addTargets", #"[{"id":4,"collection":"a/b"}]"#)
                #expect(error.body.contains(#""result":{}"#))
                #expect(try await watcher.frame() == "removed 4 INVALID_ARGUMENT")
            }
        }
    }

    @Test
    func `A query that lacks an index ends alone`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let call = #"{"jsonrpc":"2.0","id":1,"method":"indexes.exempt","params":{"collection":"a","field":"n"}}"#
                let response = try await connection.send("POST", "/rpc", ["Content-Type: application/json"], body: call)
                #expect(response.body.contains(#""result""#))
            }
            let query = #"{"id":1,"query":{"collection":"a","orderBy":[{"field":"n"}]}}"#
            try await withWatcher(of: #"{"targets":[\#(query),{"id":2,"collection":"b"}]}"#, on: server) { watcher throws in
                #expect(try await watcher.snapshot() == ["open", "removed 1 FAILED_PRECONDITION", "current 2", "snapshot"])
            }
        }
    }

    @Test
    func `Targets resume after the token of a snapshot, and are reset after any other`() async throws {
        try await withServer { server in
            try await server.set("books/a", [:])
            var token = ""
            try await withWatcher(of: #"{"targets":[{"id":1,"collection":"books"}]}"#, on: server) { watcher throws in
                _ = try await watcher.snapshot()
                token = watcher.token
            }
            try await server.set("books/b", [:])
            let resumed = #"{"id":5,"collection":"books","resume":"\#(token)"}"#
            let body = #"{"targets":[\#(resumed),{"id":6,"collection":"books","resume":"x"}]}"#
            try await withWatcher(of: body, on: server) { watcher throws in
                #expect(try await watcher.snapshot() == ["open", "books/b in 5", "current 5", "snapshot"])
                #expect(try await watcher.snapshot() == ["reset 6", "books/a in 6", "books/b in 6", "current 6", "snapshot"])
            }
        }
    }

    @Test
    func `Targets resume from the time of a read, and are reset if the client has another result`() async throws {
        try await withServer { server in
            try await server.set("books/a", [:])
            let time = try #require(server.context.store.position.lastCommitTime)
            try await server.set("books/b", [:])
            func target(_ id: Int, _ time: String, count: Int = 1) -> String {
                #"{"id":\#(id),"collection":"books","resumeTime":"\#(time)","expectedCount":\#(count)}"#
            }
            let targets = [target(1, time.rfc3339), target(2, "2200-01-01T00:00:00Z"), target(3, time.rfc3339, count: 2)]
            try await withWatcher(of: #"{"targets":[\#(targets.joined(separator: ","))]}"#, on: server) { watcher throws in
                #expect(try await watcher.snapshot() == ["open", "books/b in 1", "current 1", "snapshot"])
                for id in 2...3 {
                    #expect(
                        try await watcher.snapshot() == [
                            "reset \(id)", "books/a in \(id)", "books/b in \(id)", "current \(id)", "snapshot",
                        ]
                    )
                }
                let both = #"[{"id":4,"collection":"books","resume":"\#(watcher.token)","resumeTime":"\#(time.rfc3339)"}]"#
                #expect(try await watcher.call("addTargets", both).status == 200)
                #expect(try await watcher.frame() == "removed 4 INVALID_ARGUMENT")
            }
        }
    }

    @Test
    func `Only its caller can change the targets of a stream, while it is open`() async throws {
        try await withServer { server in
            let (key, other) = (try await server.makeKey(.admin), try await server.makeKey(.admin))
            try await withConnection(to: server) { connection in
                try await connection.send(
                    RawConnection.request(
                        "POST",
                        "/watch",
                        ["Content-Type: application/json", "Authorization: Bearer \(key)"],
                        body: #"{"targets":[]}"#
                    )
                )
                #expect(try await connection.responseHead().status == 200)
                let frame = try JSONText(Array(try #require(try await connection.chunk()).utf8.dropLast())).root
                let id = try #require(frame["stream"]?.string)
                func remove(by key: String) async throws -> String {
                    try await withConnection(to: server) { connection in
                        let params = #"{"stream":"\#(id)","targets":[1]}"#
                        return try await connection.send(
                            "POST",
                            "/rpc",
                            ["Content-Type: application/json", "Authorization: Bearer \(key)"],
                            body: #"{"jsonrpc":"2.0","id":1,"method":"watch.removeTargets","params":\#(params)}"#
                        ).body
                    }
                }
                #expect(try await remove(by: other).contains("NOT_FOUND"))
                #expect(try await remove(by: key).contains(#""result":{}"#))
                try await connection.close()
                var answer = ""
                while !answer.contains("NOT_FOUND") {
                    try await Task.sleep(for: .milliseconds(20))
                    answer = try await remove(by: key)
                }
            }
        }
    }

    @Test
    func `A stream ends with its time, with the server, and with an error for an ID that is used twice`() async throws {
        try await withServer { server in
            try await withWatcher(of: #"{"targets":[],"timeout":1}"#, on: server) { watcher throws in
                #expect(try await watcher.frame() == "open")
                #expect(try await watcher.frame() == "end timeout")
                #expect(try await watcher.frame() == nil)
            }
            let body = #"{"targets":[{"id":1,"collection":"a"},{"id":1,"collection":"b"}]}"#
            try await withWatcher(of: body, on: server) { watcher throws in
                #expect(try await watcher.frame() == "open")
                #expect(try await watcher.frame() == "error INVALID_ARGUMENT")
                #expect(try await watcher.frame() == nil)
            }
        }
    }

    @Test
    func `The stream of a deleted database ends with the same error as one with a single target`() async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                _ = try await connection.call(
                    #"{"jsonrpc":"2.0","id":1,"method":"documents.set","params":{"path":"a/1","fields":{},"database":"t"}}"#
                )
                let body = #"{"targets":[{"id":1,"collection":"a"}],"database":"t"}"#
                try await withWatcher(of: body, on: server) { watcher throws in
                    _ = try await watcher.snapshot()
                    _ = try await connection.call(
                        #"{"jsonrpc":"2.0","id":1,"method":"databases.delete","params":{"name":"t"}}"#
                    )
                    #expect(try await watcher.frame() == "error NOT_FOUND")
                    #expect(try await watcher.frame() == nil)
                }
            }
        }
    }

    @Test
    func `Without commits, snapshots tell that the connection works`() async throws {
        try await withServer { server in
            let body = #"{"targets":[{"id":1,"collection":"books"}],"heartbeat":1}"#
            try await withWatcher(of: body, on: server) { watcher throws in
                #expect(try await watcher.snapshot() == ["open", "current 1", "snapshot"])
                #expect(try await watcher.snapshot() == ["snapshot"])
                #expect(try await watcher.snapshot() == ["snapshot"])
            }
        }
    }

    @Test(arguments: [nil, "match /{document=**} { allow read; }"])
    func `A document that cannot be read is reported, but not to end users`(rules: String?) async throws {
        let service = rules.map { "service cloud.firestore { match /databases/{database}/documents { \($0) } }" }
        try await withServer(rules: service) { server in
            try await server.set("books/a", [:])
            try await server.set("books/b", [:])
            try server.write("{", toFile: "documents/books/b.json")
            try await withWatcher(of: #"{"targets":[{"id":1,"collection":"books"}]}"#, on: server) { watcher throws in
                let damage = rules == nil ? ["damaged 1"] : []
                #expect(try await watcher.snapshot() == ["open", "books/a in 1"] + damage + ["current 1", "snapshot"])
            }
        }
    }

    @Test
    func `A target beyond the limits of a stream ends alone`() async throws {
        try await withServer { server in
            let many = (1...1_001).map { #"{"id":\#($0),"document":"a/\#($0)"}"# }.joined(separator: ",")
            try await withWatcher(of: #"{"targets":[\#(many)]}"#, on: server) { watcher throws in
                #expect(try await watcher.frame() == "open")
                #expect(try await watcher.frame() == "removed 1001 RESOURCE_EXHAUSTED")
            }
            try await withWatcher(of: #"{"targets":[]}"#, on: server) { watcher throws in
                #expect(try await watcher.frame() == "open")
                // Five times 900 kB exceed 4 MiB.
                let text = String(repeating: "x", count: 900_000)
                let filter = #"{"field":"n","op":"==","value":"\#(text)"}"#
                for id in 1...5 {
                    let target = #"{"id":\#(id),"query":{"collection":"a","where":\#(filter)}}"#
                    #expect(try await watcher.call("addTargets", "[\(target)]").body.contains(#""result":{}"#))
                }
                var ends: [String] = []
                while ends.isEmpty, let frame = try await watcher.frame() {
                    if frame.hasPrefix("removed") { ends.append(frame) }
                }
                #expect(ends == ["removed 5 RESOURCE_EXHAUSTED"])
            }
        }
    }

    @Test(
        arguments: [
            (#"{"targets":[],"resume":"x"}"#, "params.resume: not with targets"),
            (#"{"targets":[],"collection":"books"}"#, "params.collection: not with targets"),
            (#"{"targets":[],"format":"sse"}"#, "params.format: a stream with targets is newline-delimited JSON"),
            (#"{"targets":[{"id":0,"collection":"books"}]}"#, "params.targets[0].id: expected 1 to 2147483647"),
            (#"{"targets":[{"id":1,"collection":"books","limit":3}]}"#, "params.targets[0].limit: unknown name"),
            (#"{"targets":{}}"#, "params.targets: expected an array"),
        ]
    )
    func `Parameters of streams with one target are refused`(body: String, message: String) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                let response = try await connection.send("POST", "/watch", ["Content-Type: application/json"], body: body)
                #expect(response.status == 400)
                #expect(response.body.contains(message), "\(response.body)")
            }
        }
    }
}
