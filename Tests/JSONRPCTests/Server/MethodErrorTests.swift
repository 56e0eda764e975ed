import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Errors of methods")
struct MethodErrorTests {
    private func call(_ kind: String) -> String {
        #"{"jsonrpc":"2.0","method":"test.fail","params":["\#(kind)"],"id":1}"#
    }

    @Test
    func `A convertible error is sent with its code, message and data in order`() async {
        let server = RPCTestServer()
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":5,"message":"There is no document books/vogon.","#
            + #""data":{"status":"NOT_FOUND","path":"books/vogon","file":{"line":3,"whole":false}}}}"#
        #expect(await server.reply(to: call("convertible")) == UTF8Key(expected))
        #expect(server.log.all.isEmpty)
    }

    @Test(
        arguments: [("unexpected", "open(/srv/secret/path): EIO"), ("internal", "the page cache is upside down (-32603)")]
    )
    func `An unexpected error is logged, and the client receives only its ID`(_ kind: String, logged: String) async throws {
        let server = RPCTestServer()
        let reply = try #require(await server.reply(to: call(kind)))
        let failure = try #require(server.log.all.first)
        #expect("\(failure.error)" == logged)
        #expect(failure.method == "test.fail")
        #expect(failure.errorID.utf8.count == 16)
        let expected =
            #"{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"Internal error; the server log has the cause under this errorId","#
            + #""data":{"errorId":"\#(failure.errorID)"}}}"#
        #expect(reply == UTF8Key(expected))
    }

    @Test
    func `Each unexpected error has its own ID`() async {
        let server = RPCTestServer()
        _ = await server.reply(to: "[\(call("unexpected")),\(call("unexpected"))]")
        #expect(Set(server.log.all.map(\.errorID)).count == 2)
    }

    @Test
    func `Setting a member of error data again keeps its position, and nil removes it`() {
        var data: RPCErrorData = ["a": "1", "b": "2", "a": .integer(3)]
        data["c"] = .boolean(true)
        data["b"] = nil
        var writer = JSONWriter()
        data.write(to: &writer)
        #expect(UTF8Key(String(decoding: writer.finish(), as: UTF8.self)) == #"{"a":3,"c":true}"#)
    }
}
