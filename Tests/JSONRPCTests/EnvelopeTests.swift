import StrictJSON
import Testing

@Suite("The envelope of a request")
struct EnvelopeTests {
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
        "A well-formed request is answered with its result and id",
        arguments: [
            Case(
                #"{"jsonrpc": "2.0", "method": "subtract", "params": [42, 23], "id": 1}"#,
                #"{"jsonrpc":"2.0","id":1,"result":19}"#
            ),
            Case(
                #"{"jsonrpc": "2.0", "method": "subtract", "params": {"subtrahend": 23, "minuend": 42}, "id": 3}"#,
                #"{"jsonrpc":"2.0","id":3,"result":19}"#
            ),
            // The order of the members is free, members that nobody knows are let pass, escaped names are the same names.
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
            // A result that is null is there.
            Case(
                #"{"jsonrpc":"2.0","method":"test.echo","params":[null],"id":1}"#,
                #"{"jsonrpc":"2.0","id":1,"result":null}"#
            ),
            // An error stands in the place of a result.
            Case(
                #"{"jsonrpc":"2.0","method":"test.fail","params":["plain"],"id":1}"#,
                #"{"jsonrpc":"2.0","id":1,"error":{"code":9,"message":"Not now."}}"#
            ),
        ]
    )
    func wellFormed(_ testCase: Case) async {
        #expect(await TestServer().reply(to: testCase.request) == testCase.reply)
    }

    @Test(
        "An id comes back byte for byte",
        arguments: [
            "0", "1", "-1", #""""#, "null", "1.5", "1.50", "-0", "1E2", "9223372036854775807", "9223372036854775808",
            "123456789012345678901234567890123456789012345678901234567890", "1e400",
            #""a""#, #""1""#, #""\u0041\/\n\"""#, #""\u0000""#, #""\ud83d\ude00""#, "\"e\u{301}\"", "\"\u{e9}\"",
            "\"\u{2028}\u{202e}\u{7f}\u{1f600}\"", #""\u007F""#,
        ]
    )
    func echoedID(_ id: String) async {
        let request = #"{"jsonrpc":"2.0","method":"subtract","params":[2],"id": \#(id) }"#
        #expect(await TestServer().reply(to: request) == UTF8Key(#"{"jsonrpc":"2.0","id":\#(id),"result":1}"#))
    }

    @Test(
        "What is not a request is refused with the id that could be read, and not executed",
        arguments: [
            // Not an object.
            ("7", "null"), (#""call""#, "null"), ("null", "null"), ("true", "null"), ("-1.5", "null"),
            // No method, or none that is a string.
            ("{}", "null"), (#"{"foo":"boo"}"#, "null"), (#"{"jsonrpc":"2.0","id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":1}"#, "null"), (#"{"jsonrpc":"2.0","method":null,"id":"x"}"#, #""x""#),
            (#"{"jsonrpc":"2.0","Method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","result":19,"id":4}"#, "4"),
            // Another version, or none.
            (#"{"method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"method":"test.record","params":["x"]}"#, "null"),
            (#"{"jsonrpc":2.0,"method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.1","method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0 ","method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":"2.00","method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"jsonrpc":null,"method":"test.record","params":["x"],"id":1}"#, "1"),
            (#"{"JSONRPC":"2.0","method":"test.record","params":["x"],"id":1}"#, "1"),
            // Parameters that are neither names nor positions.
            (#"{"jsonrpc":"2.0","method":"test.record","params":"x","id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":1,"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":false,"id":1}"#, "1"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":"x"}"#, "null"),
            // An id that is none.
            (#"{"jsonrpc":"2.0","method":"test.record","params":["x"],"id":true}"#, "null"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":["x"],"id":[1]}"#, "null"),
            (#"{"jsonrpc":"2.0","method":"test.record","params":["x"],"id":{}}"#, "null"),
            (#"{"jsonrpc":"1.0","method":"test.record","params":["x"],"id":false}"#, "null"),
        ]
    )
    func refused(_ request: String, id: String) async throws {
        let server = TestServer()
        let response = try await server.response(to: request)
        #expect(response["jsonrpc"]?.text == #""2.0""#)
        #expect(response["id"]?.text == UTF8Key(id))
        #expect(response.errorCode == -32600)
        #expect(response.count == 3)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test(
        "Null parameters are absent ones, as clients in wide use send them",
        arguments: [#","params":null"#, "", #","params":{}"#, #","params":[]"#]
    )
    func nullParameters(_ params: String) async {
        let reply = await TestServer().reply(to: #"{"jsonrpc":"2.0","method":"test.record"\#(params),"id":1}"#)
        let place = params.utf8.contains(UInt8(ascii: "[")) ? "params[0]" : "params.text"
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32602,"message":"Invalid params: \#(place): text is required","#
            + #""data":{"path":"\#(place)","reason":"text is required"}}}"#
        #expect(reply == UTF8Key(expected))
    }

    @Test(
        "A method that there is not is not found",
        arguments: [
            "", "nothing", "Subtract", "subtract ", "rpc.", "rpc.nothing", "RPC.discover", "subtract\\u0000", "se\u{301}",
        ]
    )
    func unknownMethod(_ name: String) async throws {
        let server = TestServer()
        let response = try await server.response(to: #"{"jsonrpc":"2.0","method":"\#(name)","id":1}"#)
        #expect(response.errorCode == -32601)
        #expect(response["id"]?.text == "1")
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"\#(name)"}"#) == nil)
    }

    @Test("The name of a method is at most 256 bytes long", arguments: [(256, -32601), (257, -32600)])
    func longName(_ length: Int, code: Int64) async throws {
        let name = String(repeating: "m", count: length)
        let response = try await TestServer().response(to: #"{"jsonrpc":"2.0","method":"\#(name)","id":1}"#)
        #expect(response.errorCode == code)
        #expect(response["id"]?.text == "1")
    }
}
