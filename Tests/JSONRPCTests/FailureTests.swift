import JSONRPC
import StrictJSON
import Testing

@Suite("Failures of methods")
struct FailureTests {
    private func call(_ how: String) -> String {
        #"{"jsonrpc":"2.0","method":"test.fail","params":["\#(how)"],"id":1}"#
    }

    @Test("An error that knows its answer is sent as it says, its data in order")
    func convertible() async {
        let server = TestServer()
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"There is no document books/vogon.","#
            + #""data":{"status":"NOT_FOUND","path":"books/vogon","file":{"line":3,"whole":false}}}}"#
        #expect(await server.reply(to: call("convertible")) == UTF8Key(expected))
        #expect(server.log.all.isEmpty)
    }

    @Test(
        "An unforeseen error goes to the log, and the client gets only its id",
        arguments: [("unforeseen", "open(/srv/secret/path): EIO"), ("internal", "the page cache is upside down (-32603)")]
    )
    func unforeseen(_ how: String, logged: String) async throws {
        let server = TestServer()
        let reply = try #require(await server.reply(to: call(how)))
        let failure = try #require(server.log.all.first)
        #expect("\(failure.error)" == logged)
        #expect(failure.method == "test.fail")
        #expect(failure.errorID.utf8.count == 16)
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"The server failed; its log has the reason under this errorId","#
            + #""data":{"errorId":"\#(failure.errorID)"}}}"#
        #expect(reply == UTF8Key(expected))
    }

    @Test("Every failure has an id of its own")
    func ids() async {
        let server = TestServer()
        _ = await server.reply(to: "[\(call("unforeseen")),\(call("unforeseen"))]")
        #expect(Set(server.log.all.map(\.errorID)).count == 2)
    }

    @Test("Data keep the place of a member that is set again, and lose one that is set to nothing")
    func data() {
        var data: RPCErrorData = ["a": "1", "b": "2", "a": .integer(3)]
        data["c"] = .boolean(true)
        data["b"] = nil
        var writer = JSONWriter()
        data.write(to: &writer)
        #expect(UTF8Key(String(decoding: writer.finish(), as: UTF8.self)) == #"{"a":3,"c":true}"#)
    }
}
