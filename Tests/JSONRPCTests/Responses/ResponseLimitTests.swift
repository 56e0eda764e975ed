import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Response size limit")
struct ResponseLimitTests {
    /// The length of the response to ``echo(_:)`` of one character.
    private static let envelope = #"{"jsonrpc":"2.0","id":1,"result":"x"}"#.utf8.count

    private func echo(_ text: String, id: String = "1") -> String {
        #"{"jsonrpc":"2.0","method":"test.echo","params":["\#(text)"],"id":\#(id)}"#
    }

    private func server(limit: Int) -> RPCTestServer {
        RPCTestServer(limits: RPCLimits(maximumResponseBytes: limit))
    }

    @Test(arguments: [(0, Int64?.none), (1, 8)])
    func `A result over the limit is replaced by an error`(_ excess: Int, code: Int64?) async throws {
        let response = try await server(limit: Self.envelope).response(to: echo(String(repeating: "x", count: 1 + excess)))
        #expect(response.errorCode == code)
        #expect(response["id"]?.text == "1")
    }

    @Test
    func `The call that exceeds the limit was executed, later ones are not, and their errors say so`() async throws {
        let server = server(limit: 200)
        let record = #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":3}"#
        let notification = #"{"jsonrpc":"2.0","method":"test.record","params":["b"]}"#
        let calls = [echo("x"), echo(String(repeating: "x", count: 200), id: "2"), record, notification, echo("x", id: "4")]
        let responses = try await server.response(to: "[\(calls.joined(separator: ","))]")
        let elements = Array(try #require(responses.elements))
        #expect(elements.map { $0["id"]?.text } == ["1", "2", "3", "4"])
        #expect(elements.map(\.errorCode) == [nil, 8, 8, 8])
        #expect(elements.map { $0["error"]?["data"]?["executed"]?.boolean } == [nil, true, false, false])
        #expect(elements[1]["error"]?["data"]?.text == #"{"status":"RESOURCE_EXHAUSTED","limit":200,"executed":true}"#)
        #expect(server.recorder.recorded == ["b"])
    }

    @Test
    func `An error is sent even when no space is left for a result`() async throws {
        let responses = try await server(limit: Self.envelope + 10).response(
            to: "[\(echo("x")),\(#"{"jsonrpc":"2.0","method":"nothing","id":2}"#),\(echo("x"))]"
        )
        #expect(try #require(responses.elements).map(\.errorCode) == [nil, -32601, 8])
    }

    @Test(
        arguments: [
            #"{"jsonrpc":"2.0","method":"nothing","id":9}"#,
            #"{"jsonrpc":"2.0","method":"subtract","params":[],"id":9}"#,
            #"{"jsonrpc":"2.0","method":"test.fail","params":["convertible"],"id":9}"#,
            "7",
        ]
    )
    func `Errors count toward the limit`(_ failing: String) async throws {
        let responses = try await server(limit: 80).response(to: "[\(failing),\(failing),\(echo("x"))]")
        let last = try #require(responses.elements.map(Array.init)?.last)
        #expect(last.errorCode == 8)
        #expect(last["id"]?.text == "1")
    }
}
