import JSONRPC
import Testing
import UTF8Text

@Suite("Notifications")
struct NotificationTests {
    @Test
    func `A notification is executed and has no response`() async {
        let server = RPCTestServer()
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"test.record","params":["a"]}"#) == nil)
        #expect(server.recorder.recorded == ["a"])
    }

    @Test(
        arguments: [
            #"{"jsonrpc":"2.0","method":"nothing"}"#,
            #"{"jsonrpc":"2.0","method":"subtract","params":[]}"#,
            #"{"jsonrpc":"2.0","method":"test.fail","params":["plain"]}"#,
            #"{"jsonrpc":"2.0","method":"test.fail","params":["unexpected"],"ID":1}"#,
        ]
    )
    func `The error of a notification has no response`(_ request: String) async {
        #expect(await RPCTestServer().reply(to: request) == nil)
    }

    @Test
    func `A request with a null ID is not a notification`() async {
        let reply = await RPCTestServer().reply(to: #"{"jsonrpc":"2.0","method":"subtract","params":[2],"id":null}"#)
        #expect(reply == #"{"jsonrpc":"2.0","id":null,"result":1}"#)
    }

    @Test
    func `An unexpected error of a notification is logged`() async {
        let server = RPCTestServer()
        _ = await server.reply(to: #"{"jsonrpc":"2.0","method":"test.fail","params":["unexpected"]}"#)
        #expect(server.log.all.map(\.method) == ["test.fail"])
    }
}
