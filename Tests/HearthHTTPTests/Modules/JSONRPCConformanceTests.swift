import HearthAPI
import JSONRPC
import ServerTestSupport
import StrictJSON
import Testing
import UTF8Text

@testable import HearthHTTP

/// Conformance to JSON-RPC, tested with raw bytes over a real connection.
@Suite(.timeLimit(.minutes(10))) struct JSONRPCConformanceTests {
    private static let json = "Content-Type: application/json"

    private static func call(id: String, params: String = #","params":["a/missing"]"#) -> String {
        #"{"jsonrpc":"2.0","id":\#(id),"method":"documents.get"\#(params)}"#
    }

    @Test
    func `The ID is echoed byte for byte`() async throws {
        let ids = [
            "0", #""""#, "null", "-1", "1.5", "1.0", "-0", "1e400", "9007199254740993", "9223372036854775807",
            "9223372036854775808",
            #""1""#, #""\u0000""#, #""\u0069\/\ud83d\ude00""#, "\"e\u{301}\"", "\"\u{e9}\"", "\"\u{2028}\u{202e}\"",
        ]
        try await withReplies(to: ids.map { Array(Self.call(id: $0).utf8) }) { index, reply in
            #expect(reply.utf8.starts(with: #"{"jsonrpc":"2.0","id":\#(ids[index]),"error":{"code":5,"#.utf8))
        }
    }

    /// Invalid bodies with the expected ID and error code.
    private static let failures: [(body: String, id: String, code: Int64)] = [
        (call(id: "1", params: #","params":null"#), "1", -32602), (call(id: "1", params: ""), "1", -32602),
        (call(id: "1", params: #","params":"x""#), "1", -32600), (call(id: "true"), "null", -32600),
        (call(id: "[]"), "null", -32600), (#"{"method":1}"#, "null", -32600), ("7", "null", -32600), ("[]", "null", -32600),
        ("{}", "null", -32600), (#"{"jsonrpc":2.0,"id":1,"method":"server.info"}"#, "1", -32600),
        (#"{"version":"1.1","id":1,"method":"server.info"}"#, "1", -32600),
        (#"{"jsonrpc":"2.0","id":1,"method":""}"#, "1", -32601), (#"{"jsonrpc":"2.0","id":1,"method":"rpc.x"}"#, "1", -32601),
        (#"{"jsonrpc":"2.0","id":1,"method":"Server.info"}"#, "1", -32601),
        ("", "null", -32700), ("{}x", "null", -32700), ("{}{}", "null", -32700), ("{}\n{}", "null", -32700),
        ("\u{feff}{}", "null", -32700), ("[1,]", "null", -32700), (#"{"a":1,"a":2}"#, "null", -32700),
        (#"{"a":1,"\u0061":2}"#, "null", -32700), (#"["\ud800"]"#, "null", -32700), ("[01]", "null", -32700),
        ("[.5]", "null", -32700), ("[NaN]", "null", -32700), ("['a']", "null", -32700),
        (String(repeating: "[", count: 64) + String(repeating: "]", count: 64), "null", -32600),
        (String(repeating: "[", count: 65) + String(repeating: "]", count: 65), "null", -32700),
        (String(repeating: "[", count: 1_000_000), "null", -32700),
    ]

    @Test
    func `An invalid body gets the error code of JSON-RPC, with its ID if it has a valid one`() async throws {
        let failures = Self.failures
        try await withReplies(to: failures.map { Array($0.body.utf8) }) { index, reply in
            let (body, id, code) = failures[index]
            let root = try JSONText(reply).root
            let response = try #require(root.elements?.first { _ in true } ?? root)
            #expect(response["error"]?["code"]?.number == .integer(code), "\(body.prefix(80))")
            #expect(response["id"].map { $0.rawBytes.elementsEqual(id.utf8) } == true, "\(body.prefix(80))")
            #expect(response["jsonrpc"]?.string == "2.0")
            #expect(response.count == 3)
        }
    }

    @Test
    func `Invalid UTF-8 is a parse error`() async throws {
        let bodies: [[UInt8]] = [
            [0x22, 0xff, 0x22], [0x22, 0xc0, 0x80, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x7b, 0x00, 0x7d, 0x00],
            [0xff, 0xfe, 0x7b, 0x00],
        ]
        try await withReplies(to: bodies) { index, reply in
            #expect(reply.utf8.starts(with: #"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"#.utf8), "\(bodies[index])")
        }
    }

    @Test
    func `A batch of up to 1000 calls is answered in order; a larger one is rejected`() async throws {
        let counts = [1_000, 1_001]
        let bodies = counts.map { count in "[\((0..<count).map { Self.call(id: "\($0)") }.joined(separator: ","))]" }
        try await withReplies(to: bodies.map { Array($0.utf8) }) { index, reply in
            let root = try JSONText(reply).root
            if counts[index] == 1_000 {
                let ids = try #require(root.elements).compactMap { $0["id"].map { String(decoding: $0.rawBytes, as: UTF8.self) } }
                #expect(ids == (0..<1_000).map(String.init))
            } else {
                #expect(root["id"]?.isNull == true)
                #expect(root["error"]?["code"]?.number == .integer(-32600))
                #expect(root["error"]?["data"]?["limit"]?.number == .integer(1_000))
                #expect(root["error"]?["data"]?["got"]?.number == .integer(1_001))
            }
        }
    }

    @Test
    func `Calls of a batch see the writes of earlier calls, and continue after an error`() async throws {
        let set = #"{"jsonrpc":"2.0","method":"documents.set","params":["a/b",{"n":1}]}"#
        let get = #"{"jsonrpc":"2.0","id":"g","method":"documents.get","params":["a/b"]}"#
        try await withReplies(to: [Array("[\(set),[],\(Self.call(id: "1")),\(get)]".utf8)]) { _, reply in
            let responses = Array(try #require(try JSONText(reply).root.elements))
            #expect(responses.map { $0["error"]?["code"]?.number } == [.integer(-32600), .integer(5), nil])
            #expect(responses.last?["result"]?["fields"]?["n"]?.number == .integer(1))
        }
    }

    /// Sends bodies sequentially over one connection, and passes the response bodies to `check`.
    private func withReplies(to bodies: [[UInt8]], _ check: @Sendable (Int, String) throws -> Void) async throws {
        try await withServer { server in
            try await withConnection(to: server) { connection in
                for (index, body) in bodies.enumerated() {
                    let head = "POST /rpc HTTP/1.1\r\nHost: localhost\r\n\(Self.json)\r\nContent-Length: \(body.count)\r\n\r\n"
                    try await connection.send(Array(head.utf8) + body)
                    let response = try await connection.response()
                    #expect(response.status == 200)
                    #expect(response["content-type"] == "application/json")
                    try check(index, response.body)
                }
            }
        }
    }
}
