import StrictJSON
import Testing
import UTF8Text

@testable import JSONRPC

@Suite("Response budget", .timeLimit(.minutes(1)))
struct ResponseBudgetTests {
    private typealias Reservation = ResponseBudget.Reservation

    private func echo(_ count: Int, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"test.echo","params":["\#(String(repeating: "x", count: count))"],"id":\#(id)}"#
    }

    private func record(_ text: String, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"test.record","params":["\#(text)"],"id":\#(id)}"#
    }

    @Test
    func `Waiting reservations are granted in order as soon as enough memory is released for each`() async {
        let budget = ResponseBudget(limit: 100, timeout: .seconds(1), clock: FrozenClock())
        let reservation = Reservation(of: budget)
        #expect(await reservation.reserve(90))
        await withTaskGroup { group in
            for count in [60, 30, 40] {
                group.addTask {
                    let reservation = Reservation(of: budget)
                    #expect(await reservation.reserve(count))
                    return count
                }
            }
            while budget.waiterCount < 3 { await Task.yield() }
            #expect(await Reservation(of: budget).reserve(10))
            reservation.shrink(to: 65)
            #expect(await group.next() == 30)
            reservation.shrink(to: 0)
            #expect(await group.reduce(0, +) == 100)
        }
        #expect(budget.reservedBytes == 0)
    }

    @Test
    func `A reservation fails on timeout and on cancellation`() async {
        let timingOut = ResponseBudget(limit: 100, timeout: .seconds(1), clock: InstantClock())
        let all = Reservation(of: timingOut)
        #expect(await all.reserve(100))
        #expect(await !Reservation(of: timingOut).reserve(1))

        let waitingForever = ResponseBudget(limit: 100, timeout: .seconds(1), clock: FrozenClock())
        let reservation = Reservation(of: waitingForever)
        #expect(await reservation.reserve(100))
        let waiting = Task { await Reservation(of: waitingForever).reserve(1) }
        while waitingForever.waiterCount < 1 { await Task.yield() }
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(waitingForever.waiterCount == 0)
        reservation.shrink(to: 0)
        #expect(waitingForever.reservedBytes == 0)
    }

    @Test
    func `Large responses may use at most three quarters of the budget`() async {
        let budget = ResponseBudget(limit: 400_000, timeout: .zero, clock: InstantClock())
        let (first, second, small) = (Reservation(of: budget), Reservation(of: budget), Reservation(of: budget))
        #expect(first.resize(to: 300_000, responseBytes: 300_000))
        #expect(!second.resize(to: 40_000, responseBytes: 40_000))
        #expect(small.resize(to: 30_000, responseBytes: 30_000))
        first.shrink(to: 200_000)
        #expect(second.resize(to: 100_000, responseBytes: 100_000))
    }

    @Test
    func `Memory is released chunk by chunk`() async throws {
        let budget = ResponseBudget(limit: 1 << 20, timeout: .zero)
        let server = TestServer(responseBudget: budget)
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
        let budget = ResponseBudget(limit: 1 << 20, timeout: .zero)
        let server = TestServer(responseBudget: budget)
        _ = await server.server.handle(Array(echo(100, id: 1).utf8), context: server.recorder)
        #expect(budget.reservedBytes == 0)
    }

    @Test(arguments: [false, true])
    func `Without memory nothing is executed and the whole body is rejected`(isBatch: Bool) async throws {
        let budget = ResponseBudget(limit: 100_000, timeout: .seconds(1), clock: InstantClock())
        let reservation = Reservation(of: budget)
        #expect(await reservation.reserve(99_900))
        let server = TestServer(responseBudget: budget)
        let body = record("a", id: 1)
        let reply = await server.server.handle(Array((isBatch ? "[7,\(body)]" : body).utf8), context: server.recorder)
        guard case .rejected(let error) = reply else { throw NoReply() }
        #expect(error.code == .resourceExhausted)
        #expect(server.recorder.recorded.isEmpty)
        #expect(budget.reservedBytes == 99_900)
    }

    @Test
    func `When memory runs out during a batch, every request gets a response that states whether it was executed`() async throws {
        let budget = ResponseBudget(limit: 200_000, timeout: .seconds(1), clock: InstantClock())
        let server = TestServer(responseBudget: budget)
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
        let budget = ResponseBudget(limit: 1 << 20, timeout: .seconds(1), clock: InstantClock())
        let server = TestServer(limits: RPCLimits(maximumResponseBytes: 40), responseBudget: budget)
        let id = String(repeating: "i", count: 10_000)
        let call = #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":"\#(id)"}"#
        let responses = try await server.response(to: "[\(Array(repeating: call, count: 50).joined(separator: ","))]")
        #expect(try #require(responses.elements).allSatisfy { $0.errorCode == 8 && $0["id"]?.rawBytes.count == 10_002 })
        #expect(budget.reservedBytes == 0)
    }
}
