import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Parse errors")
struct ParseErrorTests {
    static let call = #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1}"#

    @Test(
        arguments: [
            "", " ", "{", "[", #"{"jsonrpc""#, "nope",
            "\(call)x", "\(call)\(call)", "\(call)\n\(call)", "\(call),", "[\(call),]", "[\(call)", "[\(call)]]",
            "[\(call),{\"jsonrpc\":\"2.0\",\"method\"]", "// note\n\(call)", "\u{feff}\(call)", "\(call)\u{0}", "\(call)\u{a0}",
            #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1,}"#,
            #"{'jsonrpc':"2.0","method":"test.record","params":["a"],"id":1}"#,
            #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":01}"#,
            #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":NaN}"#,
            #"{"jsonrpc":"2.0","method":"test.record","params":["\ud800"],"id":1}"#,
            "{\"jsonrpc\":\"2.0\",\"method\":\"test.record\",\"params\":[\"a\u{1}\"],\"id\":1}",
            // A duplicate name: two parsers could read two different calls.
            #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1,"method":"subtract"}"#,
            #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1,"\u0069d":2}"#,
            #"[\#(call),{"jsonrpc":"2.0","method":"test.echo","params":[{"a":1,"a":1}],"id":2}]"#,
        ]
    )
    func `An invalid body gets one error response and nothing is executed`(_ body: String) async throws {
        let server = RPCTestServer()
        let response = try await server.response(to: body)
        #expect(response.errorCode == -32700)
        #expect(response["id"]?.isNull == true)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test(arguments: [[0xff], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xe2, 0x82]] as [[UInt8]])
    func `Invalid UTF-8 is a parse error`(_ bytes: [UInt8]) async throws {
        let body = Array(#"{"jsonrpc":"2.0","method":"test.record","params":[""#.utf8) + bytes + Array(#""],"id":1}"#.utf8)
        let server = RPCTestServer()
        let reply = try #require(await server.reply(to: body))
        #expect(try JSONText(reply.string).root.errorCode == -32700)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test
    func `The error has line, column and offset`() async throws {
        let data = try #require(try await RPCTestServer().response(to: "{\n  \"jsonrpc\": x}")["error"]?["data"])
        #expect(data["line"]?.text == "2")
        #expect(data["column"]?.text == "14")
        #expect(data["offset"]?.text == "15")
    }

    @Test
    func `A long name in the body is shortened in the error`() async throws {
        let name = String(repeating: "é", count: 5_000)
        let reply = try #require(await RPCTestServer().reply(to: #"{"\#(name)":1,"\#(name)":2}"#))
        #expect(reply.byteCount < 700)
        #expect(try JSONText(reply.string).root.errorCode == -32700)
    }

    @Test(
        arguments: [JSONLimits(maximumBytes: 40), JSONLimits(maximumDepth: 1)]
    )
    func `A body that is too large or too deep is rejected`(_ limits: JSONLimits) async throws {
        let server = RPCTestServer(limits: RPCLimits(json: limits))
        #expect(try await server.response(to: Self.call).errorCode == -32700)
        #expect(server.recorder.recorded.isEmpty)
    }
}
