import JSONRPC
import StrictJSON
import Testing

@Suite("Parameters")
struct ParameterTests {
    private func response(_ method: String, _ params: String) async throws -> JSONNode {
        try await TestServer().response(to: #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":1}"#)
    }

    @Test(
        "They are given by name or by position; an optional one may be left out or null",
        arguments: [
            ("[42,23]", "19"), ("[42]", "41"), ("[42,null]", "41"),
            (#"{"minuend":42,"subtrahend":23}"#, "19"), (#"{"subtrahend":23,"minuend":42}"#, "19"),
            (#"{"minuend":42}"#, "41"), (#"{"minuend":42,"subtrahend":null}"#, "41"), (#"{"minu\u0065nd":42}"#, "41"),
            (#"[-9223372036854775808,0]"#, "-9223372036854775808"), ("[9223372036854775807,0]", "9223372036854775807"),
        ]
    )
    func accepted(_ params: String, result: UTF8Key) async throws {
        #expect(try await response("subtract", params)["result"]?.text == result)
    }

    struct Refusal: CustomTestStringConvertible {
        let method: String
        let params: String
        let path: UTF8Key
        let reason: UTF8Key
        let got: UTF8Key?

        init(_ method: String, _ params: String, _ path: UTF8Key, _ reason: UTF8Key, got: UTF8Key? = nil) {
            self.method = method
            self.params = params
            self.path = path
            self.reason = reason
            self.got = got
        }

        var testDescription: String {
            "\(method) \(params)"
        }
    }

    @Test(
        "The error says where, what was expected and what was found",
        arguments: [
            // Names and positions.
            Refusal("subtract", "{}", "params.minuend", "minuend is required"),
            Refusal("subtract", "[]", "params[0]", "minuend is required"),
            Refusal("subtract", #"{"subtrahend":1}"#, "params.minuend", "minuend is required"),
            Refusal("subtract", "[1,2,3]", "params[2]", "one position too many; known here: minuend, subtrahend", got: "number"),
            Refusal(
                "subtract",
                #"{"minuend":1,"x":[]}"#,
                "params.x",
                "unknown name; known here: minuend, subtrahend",
                got: "array"
            ),
            Refusal(
                "subtract",
                #"{"Minuend":1}"#,
                "params.Minuend",
                "unknown name; known here: minuend, subtrahend",
                got: "number"
            ),
            Refusal(
                "subtract",
                #"{"a b\n":1}"#,
                #"params["a b\n"]"#,
                "unknown name; known here: minuend, subtrahend",
                got: "number"
            ),
            Refusal("rpc.discover", "[1]", "params[0]", "one position too many; known here: none", got: "number"),
            Refusal("rpc.discover", #"{"a":1}"#, "params.a", "unknown name; known here: none", got: "number"),
            // Types.
            Refusal("subtract", #"["42"]"#, "params[0]", "expected an integer", got: "string"),
            Refusal("subtract", "[null]", "params[0]", "expected an integer", got: "null"),
            Refusal("subtract", "[1.0]", "params[0]", "expected an integer, without fraction or exponent", got: "1.0"),
            Refusal("subtract", "[1e2]", "params[0]", "expected an integer, without fraction or exponent", got: "1e2"),
            Refusal(
                "subtract",
                "[9223372036854775808]",
                "params[0]",
                "expected an integer of 64 bits",
                got: "9223372036854775808"
            ),
            Refusal("test.record", #"{"text":1}"#, "params.text", "expected a string", got: "number"),
            Refusal("test.wait", #"{"finishes":1}"#, "params.finishes", "expected true or false", got: "number"),
            Refusal("test.find", #"{"where":{}}"#, "params.where", "expected an array", got: "object"),
            // Several together.
            Refusal("test.find", #"{"where":[],"limit":1}"#, "params.limit", "there is nothing to limit"),
            Refusal("test.find", "[[],1]", "params[1]", "there is nothing to limit"),
            // Inside other parameters.
            Refusal("test.find", #"{"where":[{"op":"~"}]}"#, "params.where[0].op", "no such operator", got: #""~""#),
            Refusal("test.find", #"[[{},{"op":true}]]"#, "params[0][1].op", "expected a string", got: "boolean"),
            Refusal("test.find", #"{"where":[{},7]}"#, "params.where[1]", "expected an object", got: "number"),
            Refusal(
                "test.find",
                #"{"where":[{"tags":["a",null]}]}"#,
                "params.where[0].tags[1]",
                "expected a string",
                got: "null"
            ),
            Refusal(
                "test.find",
                #"{"where":[{"and":[{"and":[{"oops":{}}]}]}]}"#,
                "params.where[0].and[0].and[0].oops",
                "unknown name; known here: op, tags, and",
                got: "object"
            ),
        ]
    )
    func refused(_ refusal: Refusal) async throws {
        let response = try await response(refusal.method, refusal.params)
        #expect(response.errorCode == -32602)
        let data = try #require(response["error"]?["data"])
        #expect(data["path"]?.string.map { UTF8Key($0) } == refusal.path)
        #expect(data["reason"]?.string.map { UTF8Key($0) } == refusal.reason)
        #expect(data["got"]?.string.map { UTF8Key($0) } == refusal.got)
        #expect(data.count == (refusal.got == nil ? 2 : 3))
    }

    @Test(
        "A long value is quoted by its beginning, cut between two scalars",
        arguments: [("a", 63), ("é", 31), ("€", 21), ("😀", 15)] as [(String, Int)]
    )
    func longValue(_ character: String, kept: Int) async throws {
        let value = String(repeating: character, count: 1_000)
        let response = try await response("test.find", #"{"where":[{"op":"\#(value)"}]}"#)
        #expect(response["error"]?["data"]?["got"]?.string == "\"\(String(repeating: character, count: kept))…")
    }

    @Test("A long name is quoted by its beginning")
    func longName() async throws {
        let response = try await response("subtract", #"{"\#(String(repeating: "n", count: 1_000))":1}"#)
        #expect(response["error"]?["data"]?["path"]?.string == #"params["\#(String(repeating: "n", count: 64))…"]"#)
    }

    @Test("A parameter that is read but not declared is a failure of the server, not of the client")
    func undeclared() async throws {
        let server = TestServer()
        let response = try await server.response(to: #"{"jsonrpc":"2.0","method":"test.forgetful","id":1}"#)
        #expect(response.errorCode == -32603)
        #expect(server.log.all.map { "\($0.error)" } == ["params.undeclared is read but not declared (-32603)"])
    }
}
