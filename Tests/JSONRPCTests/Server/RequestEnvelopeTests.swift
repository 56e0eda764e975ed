import StrictJSON
import Testing
import UTF8Text

@Suite("Request envelope")
struct RequestEnvelopeTests {
    struct Case: CustomTestStringConvertible {
        let request: String
        let reply: UTF8Key?

        init(_ request: String, _ reply: UTF8Key?) {
            self.request = request
            self.reply = reply
        }

        var testDescription: String {
            request
        }
    }

    @Test(
        arguments: [
            Case(
                #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
                #"{"jsonrpc":"2.0","id":1,"result":19}"#
            ),
            Case(
                #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
                #"{"jsonrpc":"2.0","id":3,"result":19}"#
            ),
            // Members in any order, unknown members, escaped names.
            Case(
                #"{"id":1,"x":{"id":2},"params":[2],"method":"subtract","jsonrpc":"2.0"}"#,
                #"{"jsonrpc":"2.0","id":1,"result":1}"#
            ),
            Case(
                #"{"jsonrpc":"2\u002e0","\u006dethod":"sub\u0074ract","params":[2],"\u0069d":1}"#,
                #"{"jsonrpc":"2.0","id":1,"result":1}"#
            ),
            Case(
                " \t\r\n{\"jsonrpc\":\"2.0\",\"method\":\"subtract\",\"params\":[2],\"id\":1} \n",
                #"{"jsonrpc":"2.0","id":1,"result":1}"#
            ),
            // A null result is present.
            Case(
                #"{"jsonrpc":"2.0","method":"test.echo","params":[null],"id":1}"#,
                #"{"jsonrpc":"2.0","id":1,"result":null}"#
            ),
            // An error replaces the result.
            Case(
                #"{"jsonrpc":"2.0","method":"test.fail","params":["plain"],"id":1}"#,
                #"{"jsonrpc":"2.0","id":1,"error":{"code":9,"message":"Not now."}}"#
            ),
        ]
    )
    func `A valid request gets a response with its result and ID`(_ testCase: Case) async {
        #expect(await RPCTestServer().reply(to: testCase.request) == testCase.reply)
    }

    @Test(
        arguments: [
            "0", "1", "-1", #""""#, "null", "1.5", "1.50", "-0", "1E2", "9223372036854775807", "9223372036854775808",
            "123456789012345678901234567890123456789012345678901234567890", "1e400",
            #""a""#, #""1""#, #""\u0041\/\n\"""#, #""\u0000""#, #""\ud83d\ude00""#, "\"e\u{301}\"", "\"\u{e9}\"",
            "\"\u{2028}\u{202e}\u{7f}\u{1f600}\"", #""\u007F""#,
        ]
    )
    func `The ID is echoed byte for byte`(_ id: String) async {
        let request = #"{"jsonrpc":"2.0","method":"subtract","params":[2],"id": \#(id) }"#
        #expect(await RPCTestServer().reply(to: request) == UTF8Key(#"{"jsonrpc":"2.0","id":\#(id),"result":1}"#))
    }

    @Test(
        arguments: [
            // Not an object.
            ("7", "null"), (#""call""#, "null"), ("null", "null"), ("true", "null"), ("-1.5", "null"),
            // A missing or non-string method.
            ("{}", "null"), (#"{"foo":"boo"}"#, "null"), (#"{"jsonrpc":"2.0","id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":1}"#, "null"), (#"{"jsonrpc":"2.0","method":null,"id":"x"}"#, #""x""#),
            (#"{"jsonrpc":"2.0","Method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","result":19,"id":4}"#, "4"),
            // A missing or wrong version.
            (#"{"method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"method":"test.record","params":["x"]}"#, "null"),
            (#"{"jsonrpc":2.0,"method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.1","method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0 ","method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.00","method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":null,"method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"JSONRPC":"2.0","method":"test.record","params":["x"],"id":1}"#, "1"),
            // Parameters that are neither an object nor an array.
            (#"{"jsonrpc":"2.0","method":"test.record","params":"x","id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":1,"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":false,"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":"x"}"#, "null"),
            // An invalid ID.
            (#"{"jsonrpc":"2.0","method":"test.record","params":["x"],"id":true}"#, "null"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":["x"],"id":[1]}"#, "null"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":["x"],"id":{}}"#, "null"),
            (#"{"jsonrpc":"1.0","method":"test.record","params":["x"],"id":false}"#, "null"),
        ]
    )
    func `An invalid request is rejected with its ID, if it has a valid one, and not executed`(
        _ request: String,
        id: String
    ) async throws {
        let server = RPCTestServer()
        let response = try await server.response(to: request)
        #expect(response["jsonrpc"]?.text == #""2.0""#)
        #expect(response["id"]?.text == UTF8Key(id))
        #expect(response.errorCode == -32600)
        #expect(response.count == 3)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test(
        arguments: [#","params":null"#, "", #","params":{}"#, #","params":[]"#]
    )
    func `Null parameters count as absent`(_ params: String) async {
        let reply = await RPCTestServer().reply(to: #"{"jsonrpc":"2.0","method":"test.record"\#(params),"id":1}"#)
        let path = params.utf8.contains(UInt8(ascii: "[")) ? "params[0]" : "params.text"
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: \#(path): text is required","#
            + #""data":{"path":"\#(path)","reason":"text is required"}}}"#
        #expect(reply == UTF8Key(expected))
    }

    @Test(
        arguments: [
            "", "nothing", "Subtract", "subtract ", "rpc.", "rpc.nothing", "RPC.discover", "subtract\\u0000", "se\u{301}",
        ]
    )
    func `An unknown method is not found`(_ name: String) async throws {
        let server = RPCTestServer()
        let response = try await server.response(to: #"{"jsonrpc":"2.0","method":"\#(name)","id":1}"#)
        #expect(response.errorCode == -32601)
        #expect(response["id"]?.text == "1")
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"\#(name)"}"#) == nil)
    }

    @Test(arguments: [(256, -32601), (257, -32600)])
    func `A method name longer than 256 bytes is invalid`(_ length: Int, code: Int64) async throws {
        let name = String(repeating: "m", count: length)
        let response = try await RPCTestServer().response(to: #"{"jsonrpc":"2.0","method":"\#(name)","id":1}"#)
        #expect(response.errorCode == code)
        #expect(response["id"]?.text == "1")
    }
}
