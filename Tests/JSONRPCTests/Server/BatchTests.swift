import JSONRPC
import StrictJSON
import Testing
import UTF8Text

@Suite("Batches")
struct BatchTests {
    private func record(_ text: String, id: String? = nil) -> String {
        let member = id.map { #","id":\#($0)"# } ?? ""
        return #"{"jsonrpc":"2.0","method":"test.record","params":["\#(text)"]\#(member)}"#
    }

    @Test
    func `Requests and notifications are executed in order`() async {
        let server = RPCTestServer()
        let calls = [record("a", id: "1"), record("b"), record("c", id: #""1""#), record("d", id: "1")]
        let reply = await server.reply(to: "[\(calls.joined(separator: ","))]")
        #expect(
            reply
                == #"[{"jsonrpc":"2.0","id":1,"result":1},{"jsonrpc":"2.0","id":"1","result":3},{"jsonrpc":"2.0","id":1,"result":4}]"#
        )
        #expect(server.recorder.recorded == ["a", "b", "c", "d"])
    }

    @Test
    func `The response to a batch of one is an array of one`() async {
        #expect(await RPCTestServer().reply(to: "[\(record("a", id: "7"))]") == #"[{"jsonrpc":"2.0","id":7,"result":1}]"#)
    }

    @Test
    func `An empty batch is an invalid request`() async throws {
        let response = try await RPCTestServer().response(to: " [ ] ")
        #expect(response.kind == .object)
        #expect(response.errorCode == -32600)
        #expect(response["id"]?.isNull == true)
    }

    @Test
    func `A batch of notifications has no response`() async {
        let server = RPCTestServer()
        #expect(await server.reply(to: "[\(record("a")),\(record("b"))]") == nil)
        #expect(server.recorder.recorded == ["a", "b"])
    }

    @Test(
        arguments: [
            ("[1]", 1), ("[1,2,3]", 3), ("[[]]", 1), (#"[[{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":1}]]"#, 1),
            ("[null,{}]", 2),
        ]
    )
    func `Each invalid element, including a nested batch, gets an error response`(_ batch: String, count: Int) async throws {
        let server = RPCTestServer()
        let responses = try await server.response(to: batch)
        #expect(responses.kind == .array)
        #expect(responses.count == count)
        for response in try #require(responses.elements) {
            #expect(response.errorCode == -32600)
            #expect(response["id"]?.isNull == true)
        }
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test
    func `Invalid elements do not prevent the execution of others`() async throws {
        let server = RPCTestServer()
        let responses = try await server.response(
            to: #"[\#(record("a", id: "1")),{"foo":"boo"},\#(record("b")),\#(record("c", id: "2"))]"#
        )
        let elements = Array(try #require(responses.elements))
        #expect(elements.map { $0["id"]?.text } == ["1", "null", "2"])
        #expect(elements.map(\.errorCode) == [nil, -32600, nil])
        #expect(server.recorder.recorded == ["a", "b", "c"])
    }

    @Test
    func `A failing call does not prevent the execution of later ones`() async throws {
        let server = RPCTestServer()
        let failing = #"{"jsonrpc":"2.0","method":"test.fail","params":["plain"],"id":1}"#
        let responses = try await server.response(to: "[\(failing),\(record("a", id: "2"))]")
        #expect(Array(try #require(responses.elements)).map(\.errorCode) == [9, nil])
        #expect(server.recorder.recorded == ["a"])
    }

    @Test(arguments: [(3, true), (4, false)])
    func `A batch over the size limit is not executed at all`(_ count: Int, isAllowed: Bool) async {
        let server = RPCTestServer(limits: RPCLimits(maximumBatchCount: 3))
        let batch = "[\(Array(repeating: record("a"), count: count).joined(separator: ","))]"
        let rejection: UTF8Key =
            #"{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"Invalid request: the batch has too many requests; none was executed","data":{"limit":3,"got":4}}}"#
        #expect(await server.reply(to: batch) == (isAllowed ? nil : rejection))
        #expect(server.recorder.recorded.count == (isAllowed ? count : 0))
    }
}
