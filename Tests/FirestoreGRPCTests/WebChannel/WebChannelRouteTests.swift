import Concurrency
import DocumentModel
import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing
import UTF8Text

@testable import FirestoreGRPC

@Suite("WebChannel", .timeLimit(.minutes(10)))
struct WebChannelRouteTests {
    private static let addTarget =
        #"{"database":"projects/p/databases/(default)","addTarget":{"query":{"parent":"x"},"targetId":2}}"#

    /// Runs `body` with a server whose channels do not notice the time that a slow test takes, unless there is no clock.
    private func withScript(
        _ configuration: HTTPServerConfiguration = .standard,
        clock: SettableInstant? = SettableInstant(),
        _ body: @Sendable (InProcessServer, WebChannelRegistry) async throws -> Void
    ) async throws {
        let script = ScriptedListen(now: { clock?.now ?? .now })
        try await withServer(configuration, modules: [script]) { server in try await body(server, script.registry) }
    }

    @Test
    func `A listener streams over a channel`() async throws {
        try await withScript { server, registry in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            #expect(client.sid.utf8.count == 22)
            try await client.waitForArray(1)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                #expect(backChannel.head["content-type"] == "text/plain; charset=utf-8")
                #expect(backChannel.head["cache-control"]?.hasPrefix("no-store") == true)
                #expect(backChannel.head["x-content-type-options"] == "nosniff")
                #expect(backChannel.head["x-accel-buffering"] == "no")
                #expect(backChannel.head["content-encoding"] == nil)
                let added = #"[[1,[{"targetChange":{"targetChangeType":"ADD","targetIds":[2]}}]]]"#
                #expect(try await backChannel.next() == "67\n" + added)
                try await client.send(#"{"labels":{"text":"é😀"}}"#, from: 1, acknowledging: 1)
                let document =
                    #"[[2,[{"documentChange":{"document":{"name":"projects/p/databases/(default)/documents/c/a","fields":"#
                    + #"{"n":{"stringValue":"é😀"}},"createTime":"2026-01-02T03:04:05.000001Z","#
                    + #""updateTime":"2026-01-02T03:04:05.000001Z"},"targetIds":[2]}}]]]"#
                #expect(try await backChannel.next() == "234\n" + document)
                try await client.send(#"{"labels":{"current":""}}"#, from: 2, acknowledging: 2)
                let current =
                    #"[[3,[{"targetChange":{"targetChangeType":"CURRENT","targetIds":[2],"resumeToken":"AQID","#
                    + #""readTime":"2026-01-02T03:04:05.000001Z"}}]],"#
                    + #"[4,[{"targetChange":{"resumeToken":"AQID","readTime":"2026-01-02T03:04:05.000001Z"}}]]]"#
                let snapshot = try await backChannel.next()
                #expect(snapshot == "\(current.utf16.count)\n" + current)
                let status = try await client.send(#"{"removeTarget":2}"#, from: 3, acknowledging: 4)
                // The confirmation may already be outstanding.
                #expect(status == "7\n[1,4,0]" || status.hasPrefix("9\n[1,5,"))
                let removed = #"[[5,[{"targetChange":{"targetChangeType":"REMOVE","targetIds":[2]}}]]]"#
                #expect(try await backChannel.next() == "70\n" + removed)
                try await client.terminate()
                #expect(try await backChannel.next() == nil)
            }
            #expect(registry.count == 0)
            try await server.wait { server.context.server.activity.watcherCount == 0 }
            let late = try await client.request("POST", client.query("RID=1&AID=5"), body: "count=0")
            #expect(late.status == 400)
            #expect(late.body == "Error 400: Unknown SID")
            try await client.terminate()
        }
    }

    @Test
    func `The first bytes come at once, also with nothing to say`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                #expect(try await backChannel.next() == "14\n" + #"[[1,["noop"]]]"#)
                // A new back channel ends the old one.
                let (first, end, status, next) = try await client.withBackChannel(acknowledging: 1) { other in
                    let first = try await other.next()
                    let end = try await backChannel.next()
                    let status = try await client.send(Self.addTarget, from: 0, acknowledging: 2)
                    return (first, end, status, try await other.next())
                }
                #expect(first == "14\n" + #"[[2,["noop"]]]"#)
                #expect(end == nil)
                #expect(status.contains("[1,"))
                #expect(next?.contains("ADD") == true)
            }
        }
    }

    @Test
    func `A message whose response was lost is processed once`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            for _ in 0..<3 { try await client.send(#"{"removeTarget":7}"#, from: 1) }
            // The client adds a message when it sends the request again.
            try await client.send(#"{"removeTarget":7}"#, #"{"removeTarget":8}"#, from: 1)
            try await client.waitForArray(3)
            let response = try await client.poll(acknowledging: 0)
            #expect(response.body.matches(of: /REMOVE/).count == 2)
            #expect(response.body.contains(#"[3,[{"targetChange":{"targetChangeType":"REMOVE","targetIds":[8]}}]]"#))
        }
    }

    @Test
    func `Messages that arrive out of order are processed in order`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            for id in (1...9).reversed() { try await client.send(#"{"removeTarget":\#(id)}"#, from: id) }
            try await client.waitForArray(10)
            let body = try await client.poll(acknowledging: 0).body
            let ids = body.matches(of: /"REMOVE","targetIds":\[(\d+)\]/).map { String($0.1) }
            #expect(ids == (1...9).map(String.init))
        }
    }

    @Test
    func `What was sent on a dropped back channel is sent again`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            try await client.waitForArray(1)
            let first = try await client.withBackChannel(acknowledging: 0) { try await $0.next() }
            let again = try await client.withBackChannel(acknowledging: 0) { try await $0.next() }
            #expect(first == again)
            let acknowledged = try await client.withBackChannel(acknowledging: 1) { try await $0.next() }
            #expect(acknowledged == "14\n" + #"[[2,["noop"]]]"#)
        }
    }

    @Test
    func `A disconnected back channel is noticed`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                _ = try await backChannel.next()
                #expect(try await client.send(from: 0).contains("[1,"))
                try await backChannel.connection.close()
            }
            while try await client.send(from: 0).contains("[1,") {}
        }
    }

    @Test
    func `A long poll is complete with the first arrays`() async throws {
        // Nothing happens until the timeout of the last poll.
        try await withScript(clock: nil) { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            try await client.waitForArray(1)
            let first = try await client.poll(acknowledging: 0)
            #expect(first.body == "67\n" + #"[[1,[{"targetChange":{"targetChangeType":"ADD","targetIds":[2]}}]]]"#)
            #expect(first["content-length"] == "70")
            #expect(first["transfer-encoding"] == nil)
            async let next = client.poll(acknowledging: 1)
            while try await !client.send(from: 0).contains("[1,") {}
            try await client.send(#"{"removeTarget":2}"#, from: 1)
            #expect(try await next.body == "70\n" + #"[[2,[{"targetChange":{"targetChangeType":"REMOVE","targetIds":[2]}}]]]"#)
            // Nothing happens until the timeout.
            #expect(try await client.poll(acknowledging: 2, timeout: 1_000).body == "14\n" + #"[[3,["noop"]]]"#)
        }
    }

    @Test
    func `A large snapshot waits for acknowledgements`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server)
            try await client.send(#"{"labels":{"documents":"3000","bytes":"1000"}}"#, from: 0)
            var lastID = 0
            var chunkCount = 0
            var documentCount = 0
            var responseCount = 0
            while documentCount < 3_000 {
                responseCount += 1
                (lastID, chunkCount, documentCount) = try await client.withBackChannel(acknowledging: lastID) { backChannel in
                    var (lastID, chunkCount, documentCount) = (lastID, chunkCount, documentCount)
                    while documentCount < 3_000, let chunk = try await backChannel.next() {
                        #expect(chunk.utf8.count <= 66 << 10)
                        chunkCount += 1
                        documentCount += chunk.matches(of: /documentChange/).count
                        let ids = chunk.matches(of: /\[(\d+),\[/).compactMap { Int($0.1) }
                        #expect(ids.first == lastID + 1)
                        lastID = ids.last ?? lastID
                    }
                    return (lastID, chunkCount, documentCount)
                }
                let isBounded = server.responseBudget.reservedBytes <= 2 << 20
                #expect(isBounded)
            }
            #expect(responseCount > 2)
            #expect(documentCount == 3_000)
            try await client.terminate()
            try await server.wait { server.responseBudget.reservedBytes == 0 }
        }
    }

    @Test
    func `Messages wait for a stream that waits for its client`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server)
            try await client.send(#"{"labels":{"documents":"1100","bytes":"1000"}}"#, from: 0)
            for start in [1, 501] {
                let form = (0..<500).map { #"&req\#($0)___data__={"removeTarget":\#(start + $0)}"# }.joined()
                let response = try await client.request("POST", client.query("RID=1&AID=0"), body: "ofs=\(start)" + form)
                #expect(response.status == 200)
            }
            async let last: Void = {
                for id in 1_001...1_005 { try await client.send(#"{"removeTarget":\#(id)}"#, from: id) }
            }()
            var lastID = 0
            var ids: [Int] = []
            while ids.last != 1_005 {
                let chunks = try await client.withBackChannel(acknowledging: lastID) { backChannel in
                    var chunks: [String] = []
                    while chunks.last?.contains("[1005]") != true, let chunk = try await backChannel.next() {
                        chunks.append(chunk)
                    }
                    return chunks
                }
                lastID = chunks.last?.matches(of: /\[(\d+),\[/).last.flatMap { Int($0.1) } ?? lastID
                ids += chunks.flatMap { $0.matches(of: /"REMOVE","targetIds":\[(\d+)\]/).compactMap { Int($0.1) } }
            }
            try await last
            #expect(ids == Array(1...1_005))
        }
    }

    @Test
    func `The end of a stream is told with its status`() async throws {
        try await withScript { server, registry in
            let client = try await WebChannelClient.open("Script", on: server, #"{"labels":{"fail":""}}"#)
            try await client.waitForArray(1)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                let end = #"[[1,[{"error":{"code":404,"message":"No such thing: é.","status":"NOT_FOUND"}}]]]"#
                let chunk = try await backChannel.next()
                #expect(chunk == "\(end.utf16.count)\n" + end)
                #expect(try await backChannel.next() == nil)
            }
            try await server.wait { server.context.server.activity.watcherCount == 0 }
            // Messages that the client sends before it has read the end are answered.
            try await client.send(#"{"removeTarget":2}"#, from: 1)
            #expect(try await client.poll(acknowledging: 1).status == 400)
            let ended = try await WebChannelClient.open("Script", on: server, #"{"labels":{"end":""}}"#)
            try await ended.waitForArray(1)
            #expect(try await ended.poll(acknowledging: 0).body == "14\n" + #"[[1,["stop"]]]"#)
            let malformed = try await WebChannelClient.open("Script", on: server, #"{"labels":"#)
            try await malformed.waitForArray(1)
            #expect(try await malformed.poll(acknowledging: 0).body.contains("INVALID_ARGUMENT"))
            #expect(registry.count == 3)
        }
    }

    @Test
    func `Channels of vanished pages expire, and their streams end`() async throws {
        let clock = SettableInstant()
        try await withScript(clock: clock) { server, registry in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            let other = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            try await client.waitForArray(1)
            try await other.withBackChannel(acknowledging: 0) { backChannel in
                _ = try await backChannel.next()
                clock.advance(by: .seconds(74))
                registry.check()
                #expect(registry.count == 2)
                clock.advance(by: .seconds(1))
                registry.check()
                #expect(registry.count == 1)
                try await server.wait { server.context.server.activity.watcherCount == 1 }
                #expect(try await client.poll(acknowledging: 0).status == 400)
                // The response ends after a minute, before the channel expires.
                while try await backChannel.next() != nil {}
            }
            clock.advance(by: .seconds(75))
            registry.check()
            #expect(registry.count == 0)
            try await server.wait { server.context.server.activity.watcherCount == 0 }
        }
    }

    @Test
    func `Ended channels are limited in number`() async throws {
        try await withScript { server, registry in
            _ = try await server.makeKey(.reader)
            for _ in 0..<registry.maximumEndedCount + 3 {
                _ = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            }
            #expect(registry.count == registry.maximumEndedCount)
            #expect(server.context.server.activity.watcherCount == 0)
            #expect(server.bodyBudget.reservedBytes == 0)
        }
    }

    @Test
    func `Refused channels do not push out the status of a stream`() async throws {
        try await withScript { server, registry in
            let key = try await server.makeKey(.reader)
            let headers = "Authorization:Bearer \(key)\n"
            let ended = try await WebChannelClient.open("Script", on: server, headers: headers, #"{"labels":{"fail":""}}"#)
            try await ended.waitForArray(1)
            for _ in 0..<registry.maximumEndedCount + 3 {
                _ = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            }
            #expect(registry.count == registry.maximumEndedCount + 1)
            #expect(try await ended.poll(acknowledging: 0).body.contains("NOT_FOUND"))
        }
    }

    @Test
    func `An acknowledgement of what was not sent is rejected`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, #"{"labels":{"fail":""}}"#)
            try await client.waitForArray(1)
            for request in ["RID=2&AID=1", "RID=rpc&AID=1&CI=0", "RID=rpc&AID=1&CI=1", "RID=rpc&AID=9007199254740992&CI=0"] {
                let isGet = request.contains("rpc")
                let response = try await client.request(
                    isGet ? "GET" : "POST",
                    client.query(request),
                    body: isGet ? nil : "count=0"
                )
                #expect(response.status == 400)
                #expect(response.body.contains("not sent"))
            }
            #expect(try await client.poll(acknowledging: 0).body.contains("NOT_FOUND"))
        }
    }

    @Test
    func `A poll that another one replaces ends without an error`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server)
            async let replaced = client.poll(acknowledging: 0)
            while try await !client.send(from: 0).contains("[1,") {}
            async let replacing = client.poll(acknowledging: 0)
            let first = try await replaced
            #expect(first.status == 200)
            #expect(first.body.isEmpty)
            try await client.send(Self.addTarget, from: 0)
            #expect(try await replacing.body.contains("ADD"))
        }
    }

    @Test
    func `A stream whose client does not read ends with its key, and tells why`() async throws {
        try await withScript { server, _ in
            let key = try await server.makeKey(.reader)
            let headers = "Authorization:Bearer \(key)\n"
            let client = try await WebChannelClient.open("Script", on: server, headers: headers)
            try await client.send(#"{"labels":{"documents":"3000","bytes":"1000"}}"#, from: 0)
            try await client.waitForArray(700)
            try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
            try await server.wait { server.context.server.activity.watcherCount == 0 }
            // Nothing of what had not been sent.
            let text = try await client.poll(acknowledging: 0).body
            #expect(!text.contains("documentChange"))
            #expect(text.contains("PERMISSION_DENIED"))
            #expect(text.contains("revoked"))
        }
    }

    @Test
    func `A handshake that is cut off leaves no channel`() async throws {
        try await withScript { server, registry in
            let head = "POST /google.firestore.v1.Firestore/Script/channel?VER=8&RID=1 HTTP/1.1\r\nHost: localhost\r\n"
            let type = "Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 10000\r\n\r\n"
            try await withConnection(to: server) { connection in
                try await connection.send(head + type + "headers=a%3Ab&count=1&ofs=0&req0___data__=%7B")
                try await server.wait { registry.count == 1 }
            }
            try await server.wait { registry.count == 0 && server.context.server.activity.watcherCount == 0 }
        }
    }

    @Test
    func `Callers are authenticated before their messages are read`() async throws {
        try await withScript { server, registry in
            let key = try await server.makeKey(.reader)
            let large = String(repeating: "x", count: 100_000)
            let message = #"{"labels":{"text":"\#(large)"}}"#
            // Without headers there is no credential.
            let form = WebChannelClient.form([message], from: 0)
            let client = WebChannelClient(server: server, path: "/google.firestore.v1.Firestore/Script/channel")
            #expect(try await client.request("POST", "VER=8&RID=1", body: form).status == 413)
            let headers = "headers=Authorization%3ABearer%20\(key)%0D%0A"
            #expect(try await client.request("POST", "VER=8&RID=1", body: headers + "&" + headers + "&" + form).status == 400)
            #expect(registry.count == 0)
            let authorization = "Authorization:Bearer \(key)\n"
            let accepted = try await WebChannelClient.open("Script", on: server, headers: authorization, message)
            try await accepted.waitForArray(1)
            #expect(try await accepted.poll(acknowledging: 0).body.contains(large))
            #expect(server.bodyBudget.reservedBytes == 0)
        }
    }

    @Test
    func `Each channel takes a slot for watch streams`() async throws {
        try await withScript(.standard.with(\.maximumWatchers, 1)) { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            let refused = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            #expect(try await refused.poll(acknowledging: 0).body.contains(#""status":"RESOURCE_EXHAUSTED""#))
            try await client.terminate()
            try await server.wait { server.context.server.activity.watcherCount == 0 }
            let accepted = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            try await accepted.waitForArray(1)
            #expect(try await accepted.poll(acknowledging: 0).body.contains("ADD"))
        }
    }

    @Test
    func `Messages behind a gap are limited, and use the memory for request bodies`() async throws {
        try await withScript { server, registry in
            let client = try await WebChannelClient.open("Script", on: server)
            let message = #"{"labels":{"x":"\#(String(repeating: "x", count: 1_000))"}}"#
            for id in 1...5 { try await client.send(message, from: id) }
            #expect(server.bodyBudget.reservedBytes >= 5_000)
            let form = (0..<1_000).map { "&req\($0)___data__={}" }.joined()
            let response = try await client.request("POST", client.query("RID=1&AID=0"), body: "count=1000&ofs=10" + form)
            #expect(response.status == 429)
            #expect(registry.count == 0)
            try await server.wait { server.bodyBudget.reservedBytes == 0 }
        }
    }

    @Test
    func `Messages without memory are rejected`() async throws {
        try await withScript(.standard.with(\.maximumBufferedBodyBytes, 20_000)) { server, _ in
            let client = try await WebChannelClient.open("Script", on: server)
            let message = #"{"labels":{"x":"\#(String(repeating: "x", count: 30_000))"}}"#
            let body = WebChannelClient.form([message], from: 0)
            let response = try await client.request("POST", client.query("RID=1&AID=0"), body: body)
            #expect(response.status == 503)
        }
    }

    @Test
    func `Shutdown ends streams with UNAVAILABLE`() async throws {
        try await withScript { server, _ in
            let client = try await WebChannelClient.open("Script", on: server, Self.addTarget)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                _ = try await backChannel.arrays(through: 1)
                await server.stopGracefully()
                var text = ""
                while let chunk = try await backChannel.next() { text += chunk }
                #expect(text.contains(#""status":"UNAVAILABLE""#))
            }
        }
    }

    @Test(
        arguments: [
            ("POST", "RID=1&VER=7", "count=0", "text/plain", 400), ("POST", "RID=1&VER=8", "count=0", "application/json", 415),
            ("POST", "RID=1&VER=8", "req0___data__=%", "text/plain", 400), ("GET", "RID=1&VER=8", nil, "", 400),
            ("GET", "SID=x&RID=rpc&VER=8", nil, "", 400), ("POST", "SID=x&RID=1&VER=8", "count=0", "text/plain", 400),
            ("PUT", "RID=1", nil, "", 405), ("GET", "VER=8&SID=%ff", nil, "", 400),
        ] as [(String, String, String?, String, Int)]
    )
    func `Invalid requests are rejected`(method: String, query: String, body: String?, type: String, status: Int) async throws {
        try await withScript { server, registry in
            let client = WebChannelClient(server: server, path: "/google.firestore.v1.Firestore/Script/channel")
            let response = try await client.request(method, query, body: body, type: type)
            #expect(response.status == status)
            #expect(response.body.hasPrefix("Error \(status): "))
            #expect(registry.count == 0)
        }
    }

    @Test
    func `Channels work over HTTP/2`() async throws {
        try await withScript { server, registry in
            try await withHTTP2Connection(to: server) { connection in
                let path = "/google.firestore.v1.Firestore/Script/channel"
                let type = ("content-type", "application/x-www-form-urlencoded")
                let body = WebChannelClient.form([Self.addTarget], from: 0)
                let handshake = try await connection.request("POST", path + "?VER=8&RID=1", [type], body: body)
                #expect(handshake.status == 200)
                let sid = handshake.text.split(separator: "\"", omittingEmptySubsequences: false)[3]
                let get = try connection.head("GET", path + "?VER=8&RID=rpc&SID=\(sid)&AID=0&CI=0")
                try await connection.send(get)
                try await connection.receive { responses in
                    responses[get.stream].flatMap { $0.text.contains("ADD") ? () : nil }
                }
                try await connection.send(connection.reset(get.stream))
                var status = ""
                while !status.contains("[0,") {
                    status = try await connection.request("POST", path + "?VER=8&RID=2&SID=\(sid)", [type], body: "count=0").text
                }
                let end = try await connection.request("POST", path + "?VER=8&SID=\(sid)&TYPE=terminate", body: "")
                #expect(end.status == 200)
                #expect(registry.count == 0)
            }
        }
    }
}
