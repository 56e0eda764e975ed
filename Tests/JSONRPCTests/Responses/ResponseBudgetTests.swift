import Concurrency
import StrictJSON
import TestSupport
import Testing
import UTF8Text

@testable import JSONRPC

@Suite("Response budget", .timeLimit(.minutes(10)))
struct ResponseBudgetTests {
    private func echo(_ count: Int, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"test.echo","params":["\#(String(repeating: "x", count: count))"],"id":\#(id)}"#
    }

    private func record(_ text: String, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"test.record","params":["\#(text)"],"id":\#(id)}"#
    }

    @Test
    func `Memory is released chunk by chunk`() async throws {
        let budget = MemoryBudget(limit: 1 << 20, smallReservationBytes: RPCResponseBody.smallResponseBytes)
        let server = RPCTestServer(responseBudget: budget)
        guard
            case .response(let body) = await server.server.handle(
                Array("[\(echo(40_000, id: 1)),\(echo(50_000, id: 2))]".utf8),
                context: server.recorder
            )
        else { throw NoReply() }
        #expect(budget.reservedBytes == body.byteCount)
        var (remaining, bytes) = (body.byteCount, [UInt8]())
        while let chunk = body.next() {
            #expect(budget.reservedBytes == remaining)
            remaining -= chunk.count
            bytes += chunk
        }
        #expect(budget.reservedBytes == 0)
        #expect(bytes.count == body.byteCount)
        #expect(try JSONText(bytes).root.count == 2)
    }

    @Test
    func `A discarded response releases its memory`() async {
        let budget = MemoryBudget(limit: 1 << 20, smallReservationBytes: RPCResponseBody.smallResponseBytes)
        let server = RPCTestServer(responseBudget: budget)
        _ = await server.server.handle(Array(echo(100, id: 1).utf8), context: server.recorder)
        #expect(budget.reservedBytes == 0)
    }

    @Test(arguments: [false, true])
    func `Without memory nothing is executed and the whole body is rejected`(isBatch: Bool) async throws {
        let budget = MemoryBudget(
            limit: 100_000,
            smallReservationBytes: RPCResponseBody.smallResponseBytes,
            timeout: .seconds(1),
            clock: InstantClock()
        )
        let reservation = MemoryBudget.Reservation(of: budget)
        #expect(await reservation.reserve(99_900))
        let server = RPCTestServer(responseBudget: budget)
        let body = record("a", id: 1)
        let reply = await server.server.handle(Array((isBatch ? "[7,\(body)]" : body).utf8), context: server.recorder)
        guard case .rejected(let error) = reply else { throw NoReply() }
        #expect(error.code == .resourceExhausted)
        #expect(server.recorder.recorded.isEmpty)
        #expect(budget.reservedBytes == 99_900)
    }

    @Test
    func `When memory runs out during a batch, every request gets a response that states whether it was executed`() async throws {
        let budget = MemoryBudget(
            limit: 200_000,
            smallReservationBytes: RPCResponseBody.smallResponseBytes,
            timeout: .seconds(1),
            clock: InstantClock()
        )
        let server = RPCTestServer(responseBudget: budget)
        let calls = [record("a", id: 1), echo(120_000, id: 2), echo(120_000, id: 3), record("b", id: 4)]
        let responses = try await server.response(to: "[\(calls.joined(separator: ","))]")
        let elements = Array(try #require(responses.elements))
        #expect(elements.map { $0["id"]?.text } == ["1", "2", "3", "4"])
        #expect(elements.map(\.errorCode) == [nil, nil, 8, 8])
        #expect(elements.map { $0["error"]?["data"]?["executed"]?.boolean } == [nil, nil, true, false])
        #expect(
            elements[3]["error"]?["data"]?.text
                == #"{"status":"RESOURCE_EXHAUSTED","retryAfterMilliseconds":1000,"executed":false}"#
        )
        #expect(server.recorder.recorded == ["a"])
        #expect(budget.reservedBytes == 0)
    }

    @Test
    func `Memory for the errors of a batch includes long IDs`() async throws {
        let budget = MemoryBudget(
            limit: 1 << 20,
            smallReservationBytes: RPCResponseBody.smallResponseBytes,
            timeout: .seconds(1),
            clock: InstantClock()
        )
        let server = RPCTestServer(limits: RPCLimits(maximumResponseBytes: 40), responseBudget: budget)
        let id = String(repeating: "i", count: 10_000)
        let call = #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":"\#(id)"}"#
        let responses = try await server.response(to: "[\(Array(repeating: call, count: 50).joined(separator: ","))]")
        #expect(try #require(responses.elements).allSatisfy { $0.errorCode == 8 && $0["id"]?.rawBytes.count == 10_002 })
        #expect(budget.reservedBytes == 0)
    }
}
