import JSONRPC
import StrictJSON
import Testing

@Suite("Batches")
struct BatchTests {
    private func record(_ text: String, id: String? = nil) -> String {
        let member = id.map { #","id":\#($0)"# } ?? ""
        return #"{"jsonrpc":"2.0","method":"test.record","params":["\#(text)"]\#(member)}"#
    }

    @Test("The requests are executed and answered in their order, notifications among them")
    func order() async {
        let server = TestServer()
        let calls = [record("a", id: "1"), record("b"), record("c", id: #""1""#), record("d", id: "1")]
        let reply = await server.reply(to: "[\(calls.joined(separator: ","))]")
        #expect(
            reply
                == #"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":"1","result":3},{"jsonrpc":"2.0","id":1,"result":4}]"#
        )
        #expect(server.recorder.recorded == ["a", "b", "c", "d"])
    }

    @Test("A batch of one is answered with an array of one")
    func one() async {
        #expect(await TestServer().reply(to: "[\(record("a", id: "7"))]") == #"[{"jsonrpc":"2.0","id":7,"result":1}]"#)
    }

    @Test("An empty batch is one invalid request")
    func empty() async throws {
        let response = try await TestServer().response(to: " [ ] ")
        #expect(response.kind == .object)
        #expect(response.errorCode == -32600)
        #expect(response["id"]?.isNull == true)
    }

    @Test("A batch of notifications is not answered")
    func notifications() async {
        let server = TestServer()
        #expect(await server.reply(to: "[\(record("a")),\(record("b"))]") == nil)
        #expect(server.recorder.recorded == ["a", "b"])
    }

    @Test(
        "Each element that is no request is answered as such, nested batches too",
        arguments: [
            ("[1]", 1), ("[1,2,3]", 3), ("[[]]", 1), (#"[[{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1}]]"#, 1),
            ("[null,{}]", 2),
        ]
    )
    func invalidElements(_ batch: String, count: Int) async throws {
        let server = TestServer()
        let responses = try await server.response(to: batch)
        #expect(responses.kind == .array)
        #expect(responses.count == count)
        for response in try #require(responses.elements) {
            #expect(response.errorCode == -32600)
            #expect(response["id"]?.isNull == true)
        }
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test("Invalid elements do not keep the others from being executed")
    func mixed() async throws {
        let server = TestServer()
        let responses = try await server.response(
            to: #"[\#(record("a", id: "1")),{"foo":"boo"},\#(record("b")),\#(record("c", id: "2"))]"#
        )
        let elements = Array(try #require(responses.elements))
        #expect(elements.map { $0["id"]?.text } == ["1", "null", "2"])
        #expect(elements.map(\.errorCode) == [nil, -32600, nil])
        #expect(server.recorder.recorded == ["a", "b", "c"])
    }

    @Test("A failing call does not keep the next ones from being executed")
    func failing() async throws {
        let server = TestServer()
        let failing = #"{"jsonrpc":"2.0","method":"test.fail","params":["plain"],"id":1}"#
        let responses = try await server.response(to: "[\(failing),\(record("a", id: "2"))]")
        #expect(Array(try #require(responses.elements)).map(\.errorCode) == [9, nil])
        #expect(server.recorder.recorded == ["a"])
    }

    @Test("A batch as large as allowed is executed, a larger one not at all", arguments: [(3, true), (4, false)])
    func countLimit(_ count: Int, isAllowed: Bool) async {
        let server = TestServer(limits: RPCLimits(maximumBatchCount: 3))
        let batch = "[\(Array(repeating: record("a"), count: count).joined(separator: ","))]"
        let refusal: UTF8Key =
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: the batch holds too many requests; none was executed","data":{"limit":3,"got":4}}}"#
        #expect(await server.reply(to: batch) == (isAllowed ? nil : refusal))
        #expect(server.recorder.recorded.count == (isAllowed ? count : 0))
    }
}
