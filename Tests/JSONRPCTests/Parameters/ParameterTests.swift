import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Parameters")
struct ParameterTests {
    private func response(_ method: String, _ params: String) async throws -> JSONNode {
        try await RPCTestServer().response(to: #"{"jsonrpc":"2.0","method":"\#(method)","params":\#(params),"id":1}"#)
    }

    @Test(
        arguments: [
            ("[42,23]", "19"), ("[42]", "41"), ("[42,null]", "41"),
            (#"{"minuend":42,"subtrahend":23}"#, "19"), (#"{"subtrahend":23,"minuend":42}"#, "19"),
            (#"{"minuend":42}"#, "41"), (#"{"minuend":42,"subtrahend":null}"#, "41"), (#"{"minu\u0065nd":42}"#, "41"),
            (#"[-9223372036854775808,0]"#, "-9223372036854775808"), ("[9223372036854775807,0]", "9223372036854775807"),
        ]
    )
    func `Parameters are passed by name or position; an optional one may be absent or null`(
        _ params: String,
        result: UTF8Key
    ) async throws {
        #expect(try await response("subtract", params)["result"]?.text == result)
    }

    struct InvalidCase: CustomTestStringConvertible {
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
        arguments: [
            // Names and positions.
            InvalidCase("subtract", "{}", "params.minuend", "minuend is required"),
            InvalidCase("subtract", "[]", "params[0]", "minuend is required"),
            InvalidCase("subtract", #"{"subtrahend":1}"#, "params.minuend", "minuend is required"),
            InvalidCase(
                "subtract",
                "[1,2,3]",
                "params[2]",
                "too many positional parameters; expected: minuend, subtrahend",
                got: "number"
            ),
            InvalidCase(
                "subtract",
                #"{"minuend":1,"x":[]}"#,
                "params.x",
                "unknown name; expected one of: minuend, subtrahend",
                got: "array"
            ),
            InvalidCase(
                "subtract",
                #"{"Minuend":1}"#,
                "params.Minuend",
                "unknown name; expected one of: minuend, subtrahend",
                got: "number"
            ),
            InvalidCase(
                "subtract",
                #"{"a b\n":1}"#,
                #"params["a b\n"]"#,
                "unknown name; expected one of: minuend, subtrahend",
                got: "number"
            ),
            InvalidCase("rpc.discover", "[1]", "params[0]", "too many positional parameters; expected: none", got: "number"),
            InvalidCase("rpc.discover", #"{"a":1}"#, "params.a", "unknown name; expected one of: none", got: "number"),
            // Types.
            InvalidCase("subtract", #"["42"]"#, "params[0]", "expected an integer", got: "string"),
            InvalidCase("subtract", "[null]", "params[0]", "expected an integer", got: "null"),
            InvalidCase("subtract", "[1.0]", "params[0]", "expected an integer without fraction or exponent", got: "1.0"),
            InvalidCase("subtract", "[1e2]", "params[0]", "expected an integer without fraction or exponent", got: "1e2"),
            InvalidCase(
                "subtract",
                "[9223372036854775808]",
                "params[0]",
                "expected a 64-bit integer",
                got: "9223372036854775808"
            ),
            InvalidCase("test.record", #"{"text":1}"#, "params.text", "expected a string", got: "number"),
            InvalidCase("test.wait", #"{"finishes":1}"#, "params.finishes", "expected true or false", got: "number"),
            InvalidCase("test.find", #"{"where":{}}"#, "params.where", "expected an array", got: "object"),
            // Parameters that depend on each other.
            InvalidCase("test.find", #"{"where":[],"limit":1}"#, "params.limit", "there is nothing to limit"),
            InvalidCase("test.find", "[[],1]", "params[1]", "there is nothing to limit"),
            // Nested values.
            InvalidCase("test.find", #"{"where":[{"op":"~"}]}"#, "params.where[0].op", "no such operator", got: #""~""#),
            InvalidCase("test.find", #"[[{},{"op":true}]]"#, "params[0][1].op", "expected a string", got: "boolean"),
            InvalidCase("test.find", #"{"where":[{},7]}"#, "params.where[1]", "expected an object", got: "number"),
            InvalidCase(
                "test.find",
                #"{"where":[{"tags":["a",null]}]}"#,
                "params.where[0].tags[1]",
                "expected a string",
                got: "null"
            ),
            InvalidCase(
                "test.find",
                #"{"where":[{"and":[{"and":[{"oops":{}}]}]}]}"#,
                "params.where[0].and[0].and[0].oops",
                "unknown name; expected one of: op, tags, and",
                got: "object"
            ),
        ]
    )
    func `The error has the path, the reason and what was found`(_ testCase: InvalidCase) async throws {
        let response = try await response(testCase.method, testCase.params)
        #expect(response.errorCode == -32602)
        let data = try #require(response["error"]?["data"])
        #expect(data["path"]?.string.map { UTF8Key($0) } == testCase.path)
        #expect(data["reason"]?.string.map { UTF8Key($0) } == testCase.reason)
        #expect(data["got"]?.string.map { UTF8Key($0) } == testCase.got)
        #expect(data.count == (testCase.got == nil ? 2 : 3))
    }

    @Test(
        arguments: [("a", 63), ("é", 31), ("€", 21), ("😀", 15)] as [(String, Int)]
    )
    func `An excerpt of a long value ends at a scalar boundary`(_ character: String, kept: Int) async throws {
        let value = String(repeating: character, count: 1_000)
        let response = try await response("test.find", #"{"where":[{"op":"\#(value)"}]}"#)
        #expect(response["error"]?["data"]?["got"]?.string == "\"\(String(repeating: character, count: kept))…")
    }

    @Test
    func `The path has an excerpt of a long name`() async throws {
        let response = try await response("subtract", #"{"\#(String(repeating: "n", count: 1_000))":1}"#)
        #expect(response["error"]?["data"]?["path"]?.string == #"params["\#(String(repeating: "n", count: 64))…"]"#)
    }

    @Test
    func `Reading an undeclared parameter is an internal error`() async throws {
        let server = RPCTestServer()
        let response = try await server.response(to: #"{"jsonrpc":"2.0","method":"test.readsUndeclared","id":1}"#)
        #expect(response.errorCode == -32603)
        #expect(server.log.all.map { "\($0.error)" } == ["params.undeclared is read but not declared (-32603)"])
    }
}
