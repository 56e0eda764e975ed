import JSONRPC
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@Suite("Deadlines and cancellation")
struct CallDeadlineTests {
    static let record = #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":2}"#

    @Test
    func `A call that exceeds its deadline is cancelled; later calls of the batch are executed`() async throws {
        let server = RPCTestServer(limits: RPCLimits(callTimeout: .milliseconds(2_500)), clock: InstantClock())
        let responses = try await server.response(to: #"[{"jsonrpc":"2.0","method":"test.wait","id":"slow"},\#(Self.record)]"#)
        let elements = Array(try #require(responses.elements))
        let expected =
            #"{"jsonrpc":"2.0","id":"slow","error":{"code":4,"message":"The call was cancelled because it took longer than 2.5 seconds","#
            + #""data":{"status":"DEADLINE_EXCEEDED"}}}"#
        #expect(elements.first?.text == UTF8Key(expected))
        #expect(elements.last?.text == #"{"jsonrpc":"2.0","id":2,"result":1}"#)
        #expect(elements.count == 2)
        #expect(server.log.all.isEmpty)
    }

    @Test
    func `After four times the call timeout, the remaining calls of a batch are not executed`() async throws {
        let server = RPCTestServer(limits: RPCLimits(callTimeout: .milliseconds(2_500)), clock: SteppingClock())
        let waiting = (0..<4).map { #"{"jsonrpc":"2.0","method":"test.wait","id":\#($0)}"# }.joined(separator: ",")
        let responses = try await server.response(to: "[\(waiting),\(Self.record)]")
        let expected =
            #"{"jsonrpc":"2.0","id":2,"error":{"code":4,"message":"The call was not executed because the calls before it in the batch "#
            + #"took 10.0 seconds or longer","data":{"status":"DEADLINE_EXCEEDED"}}}"#
        #expect(Array(try #require(responses.elements)).last?.text == UTF8Key(expected))
        #expect(server.recorder.recorded.isEmpty)
    }

    @Test
    func `A call that completes after its deadline returns its result`() async {
        let server = RPCTestServer(clock: InstantClock())
        let reply = await server.reply(to: #"{"jsonrpc":"2.0","method":"test.wait","params":[true],"id":1}"#)
        #expect(reply == #"{"jsonrpc":"2.0","id":1,"result":"finished"}"#)
    }

    @Test
    func `A notification that exceeds its deadline is cancelled without a response or log entry`() async {
        let server = RPCTestServer(clock: InstantClock())
        #expect(await server.reply(to: #"{"jsonrpc":"2.0","method":"test.wait"}"#) == nil)
        #expect(server.log.all.isEmpty)
    }

    @Test
    func `Cancelling the surrounding task cancels the running call and skips the others`() async throws {
        let server = RPCTestServer()
        let notification = #"{"jsonrpc":"2.0","method":"test.record","params":["b"]}"#
        let task = Task {
            try await server.response(to: #"[{"jsonrpc":"2.0","method":"test.wait","id":1},\#(notification),\#(Self.record)]"#)
        }
        await server.recorder.waitUntilWaiting()
        task.cancel()
        let elements = Array(try #require(try await task.value.elements))
        #expect(elements.map { $0["id"]?.text } == ["1", "2"])
        #expect(elements.map(\.errorCode) == [1, 1])
        #expect(server.recorder.recorded.isEmpty)
        #expect(server.log.all.isEmpty)
    }
}
