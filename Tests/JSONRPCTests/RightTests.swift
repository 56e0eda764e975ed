import JSONRPC
import StrictJSON
import Testing

/// A method is called only by those who have the right that it declares.
@Suite("Rights")
struct RightTests {
    @Test(
        "A caller without the right is told so, whatever the parameters",
        arguments: [#","params":{"text":"a"}"#, #","params":{"text":7}"#, #","params":[1,2,3,4]"#, ""]
    )
    func refusal(params: String) async {
        let server = TestServer(denying: .record)
        let reply = await server.reply(to: #"{"jsonrpc":"2.0","method":"test.record","id":1\#(params)}"#)
        #expect(reply == #"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"You may not record."}}"#)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test("A notification without the right is not executed")
    func notification() async {
        let server = TestServer(denying: .record)
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"test.record","params":["a"]}"#) == nil)
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test("In a batch each call is asked for itself")
    func batch() async throws {
        let server = TestServer(denying: .record)
        let response = try await server.response(
            to: #"""
                [{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1},
                 {"jsonrpc":"2.0","method":"subtract","params":[3,2],"id":2}]
                """#
        )
        let answers = Array(try #require(response.elements))
        #expect(answers.first?.errorCode == 7)
        #expect(answers.last?["result"]?.text == "1")
    }

    @Test("rpc.discover needs a right too, and tells that of each method")
    func discovery() async throws {
        let call = #"{"jsonrpc":"2.0","method":"rpc.discover","id":1}"#
        #expect(try await TestServer(denying: .use).response(to: call).errorCode == 7)
        let methods = try await TestServer().response(to: call)["result"]?["methods"]?.elements.map(Array.init) ?? []
        let rights = methods.map { [$0["name"]?.string, $0["x-right"]?.string] }
        #expect(rights.contains(["test.record", "record"]))
        #expect(rights.contains(["rpc.discover", "use"]))
        #expect(rights.allSatisfy { $0[1] != nil })
    }
}
