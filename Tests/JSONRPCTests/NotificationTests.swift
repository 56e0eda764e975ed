import JSONRPC
import StrictJSON
import Testing

@Suite("Notifications")
struct NotificationTests {
    @Test("A notification is executed and not answered")
    func executed() async {
        let server = TestServer()
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"test.record","params":["a"]}"#) == nil)
        #expect(server.recorder.recorded == ["a"])
    }

    @Test(
        "Not even its errors are answered",
        arguments: [
            #"{"jsonrpc":"2.0","method":"nothing"}"#,
            #"{"jsonrpc":"2.0","method":"subtract","params":[]}"#,
            #"{"jsonrpc":"2.0","method":"test.fail","params":["plain"]}"#,
            #"{"jsonrpc":"2.0","method":"test.fail","params":["unforeseen"],"ID":1}"#,
        ]
    )
    func errors(_ request: String) async {
        #expect(await TestServer().reply(to: request) == nil)
    }

    @Test("An id of null makes it a request")
    func nullID() async {
        let reply = await TestServer().reply(to: #"{"jsonrpc":"2.0","method":"subtract","params":[2],"id":null}"#)
        #expect(reply == #"{"jsonrpc":"2.0","id":null,"result":1}"#)
    }

    @Test("Its unforeseen failure is logged")
    func logged() async {
        let server = TestServer()
        _ = await server.reply(to: #"{"jsonrpc":"2.0","method":"test.fail","params":["unforeseen"]}"#)
        #expect(server.log.all.map(\.method) == ["test.fail"])
    }
}
