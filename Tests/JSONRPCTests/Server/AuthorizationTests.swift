import JSONRPC
import StrictJSON
import Testing
import UTF8Text

/// The right that each method requires.
@Suite("Authorization")
struct AuthorizationTests {
    @Test(
        arguments: [#","params":{"text":"a"}"#, #","params":{"text":7}"#, #","params":[1,2,3,4]"#, ""]
    )
    func `A caller without the right gets an error before parameters are decoded`(params: String) async {
        let server = RPCTestServer(denying: .record)
        let reply = await server.reply(to: #"{"jsonrpc":"2.0","method":"test.record","id":1\#(params)}"#)
        #expect(reply == #"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"Permission denied: record"}}"#)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test
    func `A notification without the right is not executed`() async {
        let server = RPCTestServer(denying: .record)
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"test.record","params":["a"]}"#) == nil)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test
    func `Each call of a batch is authorized separately`() async throws {
        let server = RPCTestServer(denying: .record)
        let response = try await server.response(
            to: #"""
                [{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1},
                 {"jsonrpc":"2.0","method":"subtract","params":[3,2],"id":2}]
                """#
        )
        let responses = Array(try #require(response.elements))
        #expect(responses.first?.errorCode == 7)
        #expect(responses.last?["result"]?.text == "1")
    }

    @Test
    func `rpc.discover requires a right too, and lists that of each method`() async throws {
        let call = #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#
        #expect(try await RPCTestServer(denying: .use).response(to: call).errorCode == 7)
        let methods = try await RPCTestServer().response(to: call)["result"]?["methods"]?.elements.map(Array.init) ?? []
        let rights = methods.map { [$0["name"]?.string, $0["x-right"]?.string] }
        #expect(rights.contains(["test.record", "record"]))
        #expect(rights.contains(["rpc.discover", "use"]))
        #expect(rights.allSatisfy { $0[1] != nil })
    }
}
