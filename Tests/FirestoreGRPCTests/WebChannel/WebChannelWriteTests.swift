import Concurrency
import DocumentModel
import DocumentStore
import HearthAPI
import HearthHTTP
import ServerTestSupport
import Testing
import UTF8Text

@testable import FirestoreGRPC

@Suite("Writes over WebChannel", .timeLimit(.minutes(10)))
struct WebChannelWriteTests {
    private static let handshake = #"{"database":"projects/p/databases/(default)"}"#

    private static func write(_ id: String, _ fields: String) -> String {
        #"{"streamToken":"AAAAAAAAAAE=","writes":[{"update":{"name":"projects/p/databases/(default)/documents/c/\#(id)","#
            + #""fields":\#(fields)},"unknown":1}]}"#
    }

    @Test
    func `Writes are committed in order and answered`() async throws {
        try await withServer { server in
            let client = try await WebChannelClient.open("Write", on: server, Self.handshake)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                let opened = try await backChannel.arrays(through: 1)
                let handshake = opened.contains("streamId") ? opened : try await backChannel.arrays(through: 2)
                #expect(handshake.contains(#""streamToken":"AAAAAAAAAAE=""#))
                let fields =
                    #"{"fields":{"mapValue":{"fields":{"update":{"mapValue":{"fields":{"limit":{"integerValue":"7"}}}}}}},"#
                    + #""list":{"arrayValue":{"values":[{"mapValue":{"fields":{"😀":{"doubleValue":"Infinity"}}}}]}},"#
                    + #""e\u0301":{"nullValue":"NULL_VALUE"},"\u00e9":{"bytesValue":"AQI="}}"#
                try await client.send(Self.write("a", fields), Self.write("b", "{}"), from: 1)
                var answers = ""
                while answers.matches(of: /commitTime/).count < 2 { answers += try #require(await backChannel.next()) }
                #expect(answers.matches(of: /"writeResults":\[\{"updateTime":"[^"]*"\}\]/).count == 2)
            }
            let expected: MapValue = [
                "fields": .map(["update": .map(["limit": .integer(7)])]), "list": .array([.map(["😀": .double(.infinity)])]),
                "e\u{301}": .null, "\u{e9}": .bytes([1, 2]),
            ]
            let document = try await server.context.store.document(at: DocumentPath("c/a"), readTime: nil)
            #expect(try document?.decoded().fields == expected)
        }
    }

    @Test
    func `A commit that fails ends the stream`() async throws {
        try await withServer { server in
            let client = try await WebChannelClient.open("Write", on: server, Self.handshake)
            let failing =
                #"{"writes":[{"delete":"projects/p/databases/(default)/documents/c/a","currentDocument":{"exists":true}}]}"#
            try await client.send(failing, Self.write("b", "{}"), from: 1)
            try await client.waitForArray(2)
            #expect(try await client.poll(acknowledging: 0).body.contains(#""status":"NOT_FOUND""#))
        }
    }

    @Test
    func `The credentials are in the header block`() async throws {
        try await withServer { server in
            let writer = try await server.makeKey(.writer)
            let reader = try await server.makeKey(.reader)
            let refused = ["", "Authorization:Bearer owner\n", "Authorization:Bearer \(reader)\n", "Authorization:Basic eA==\n"]
            for headers in refused {
                let client = try await WebChannelClient.open("Write", on: server, headers: headers, Self.handshake)
                let answer = try await client.poll(acknowledging: 0)
                #expect(answer.body.contains(#"[[1,[{"error":{"code":403,"#))
                #expect(answer.body.contains("PERMISSION_DENIED"))
            }
            // Not among those of the request, which a browser may add on its own.
            let own = try await WebChannelClient.open(
                "Write",
                on: server,
                headers: "",
                Self.handshake,
                fields: ["Authorization: Bearer \(writer)"]
            )
            #expect(try await own.poll(acknowledging: 0).body.contains("PERMISSION_DENIED"))
            let accepted = try await WebChannelClient.open(
                "Write",
                on: server,
                headers: "A:b\nAuthorization:Bearer \(writer)\n",
                Self.handshake
            )
            try await accepted.waitForArray(1)
            #expect(try await accepted.poll(acknowledging: 0).body.contains("streamToken"))
            // As older clients send it.
            let block = PercentEncoding.encode(UTF8Key("Authorization:Bearer \(writer)\r\n"))
            let old = WebChannelClient(server: server, path: accepted.path)
            let opened = try await old.request(
                "POST",
                "VER=8&RID=1&CVER=22&%24httpHeaders=\(block)",
                body: WebChannelClient.form([Self.handshake], from: 0)
            )
            let sid = opened.body.split(separator: "\"", omittingEmptySubsequences: false)[3]
            let poll = try await old.request("GET", "VER=8&SID=\(sid)&RID=rpc&AID=0&CI=1")
            #expect(poll.body.contains("streamToken"))
        }
    }

    @Test
    func `The response to a commit is sent although the stream is being ended`() async throws {
        let channel = WebChannel(now: { .now })
        channel.end(.shutdown)
        try await channel.write([Array("1".utf8)], within: .unlimited)
        let large = [[UInt8](repeating: UInt8(ascii: "x"), count: WebChannelOutput.maximumBytes)]
        try await channel.write(large, within: .unlimited)
        // But it does not wait for a client that does not read.
        await #expect(throws: StatusError.self) { try await channel.write(large, within: .unlimited) }
    }

    @Test
    func `The stream of a revoked key ends`() async throws {
        try await withServer { server in
            let key = try await server.makeKey(.writer)
            let client = try await WebChannelClient.open(
                "Write",
                on: server,
                headers: "Authorization:Bearer \(key)\n",
                Self.handshake
            )
            try await client.waitForArray(1)
            try await client.withBackChannel(acknowledging: 0) { backChannel in
                _ = try await backChannel.arrays(through: 1)
                try await server.context.keys.revoke(UTF8Key(String(key.dropFirst(4).prefix(12))))
                var text = ""
                while let chunk = try await backChannel.next() { text += chunk }
                #expect(text.contains(#""status":"PERMISSION_DENIED""#))
            }
        }
    }
}
