import StrictJSON
import Testing

@testable import JSONRPC

@Suite("The memory for all answers", .timeLimit(.minutes(1)))
struct AnswerBudgetTests {
    private typealias Share = AnswerBudget.Share

    private func echo(_ count: Int, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"test.echo","params":["\#(String(repeating: "x", count: count))"],"id":\#(id)}"#
    }

    private func record(_ text: String, id: Int) -> String {
        #"{"jsonrpc":"2.0","method":"test.record","params":["\#(text)"],"id":\#(id)}"#
    }

    @Test("Room is waited for until somebody gives as much back, first come first served among those whom it suffices")
    func waiting() async {
        let budget = AnswerBudget(limit: 100, wait: .seconds(1), clock: FrozenClock())
        let share = Share(of: budget)
        #expect(await share.reserve(90))
        await withTaskGroup { group in
            for count in [60, 30, 40] {
                group.addTask {
                    let share = Share(of: budget)
                    #expect(await share.reserve(count))
                    return count
                }
            }
            while budget.waiting < 3 { await Task.yield() }
            #expect(await Share(of: budget).reserve(10))
            share.shrink(to: 65)
            #expect(await group.next() == 30)
            share.shrink(to: 0)
            #expect(await group.reduce(0, +) == 100)
        }
        #expect(budget.held == 0)
    }

    @Test("Who waits for too long, or is cancelled, gets nothing")
    func impatience() async {
        let impatient = AnswerBudget(limit: 100, wait: .seconds(1), clock: InstantClock())
        let all = Share(of: impatient)
        #expect(await all.reserve(100))
        #expect(await !Share(of: impatient).reserve(1))

        let patient = AnswerBudget(limit: 100, wait: .seconds(1), clock: FrozenClock())
        let rest = Share(of: patient)
        #expect(await rest.reserve(100))
        let waiting = Task { await Share(of: patient).reserve(1) }
        while patient.waiting < 1 { await Task.yield() }
        waiting.cancel()
        #expect(await !waiting.value)
        #expect(patient.waiting == 0)
        rest.shrink(to: 0)
        #expect(patient.held == 0)
    }

    @Test("Large answers get three quarters, small ones what is left")
    func large() async {
        let budget = AnswerBudget(limit: 400_000, wait: .zero, clock: InstantClock())
        let (first, second, small) = (Share(of: budget), Share(of: budget), Share(of: budget))
        #expect(first.resize(to: 300_000, answer: 300_000))
        #expect(!second.resize(to: 40_000, answer: 40_000))
        #expect(small.resize(to: 30_000, answer: 30_000))
        first.shrink(to: 200_000)
        #expect(second.resize(to: 100_000, answer: 100_000))
    }

    @Test("An answer is counted while it is held, and piece by piece no more")
    func pieces() async throws {
        let budget = AnswerBudget(limit: 1 << 20, wait: .zero)
        let server = TestServer(answers: budget)
        guard
            case .response(let answer) = await server.server.handle(
                Array("[\(echo(40_000, id: 1)),\(echo(50_000, id: 2))]".utf8),
                context: server.recorder
            )
        else { throw NoReply() }
        #expect(budget.held == answer.byteCount)
        var (rest, bytes) = (answer.byteCount, [UInt8]())
        while let piece = answer.next() {
            #expect(budget.held == rest)
            rest -= piece.count
            bytes += piece
        }
        #expect(budget.held == 0)
        #expect(bytes.count == answer.byteCount)
        #expect(try JSONText(bytes).root.count == 2)
    }

    @Test("An answer that nobody takes gives its room back")
    func dropped() async {
        let budget = AnswerBudget(limit: 1 << 20, wait: .zero)
        let server = TestServer(answers: budget)
        _ = await server.server.handle(Array(echo(100, id: 1).utf8), context: server.recorder)
        #expect(budget.held == 0)
    }

    @Test("Without room nothing is executed, and the body as a whole is refused", arguments: [false, true])
    func refusal(isBatch: Bool) async throws {
        let budget = AnswerBudget(limit: 100_000, wait: .seconds(1), clock: InstantClock())
        let share = Share(of: budget)
        #expect(await share.reserve(99_900))
        let server = TestServer(answers: budget)
        let body = record("a", id: 1)
        let reply = await server.server.handle(Array((isBatch ? "[7,\(body)]" : body).utf8), context: server.recorder)
        guard case .refused(let error) = reply else { throw NoReply() }
        #expect(error.code == .resourceExhausted)
        #expect(server.recorder.recorded.isEmpty)
        #expect(budget.held == 99_900)
    }

    @Test("A batch whose room ends is answered to its end: what was executed stays so, what was not is told so")
    func batch() async throws {
        let budget = AnswerBudget(limit: 200_000, wait: .seconds(1), clock: InstantClock())
        let server = TestServer(answers: budget)
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
        #expect(budget.held == 0)
    }

    @Test("The errors of a batch have room whatever their ids are")
    func ids() async throws {
        let budget = AnswerBudget(limit: 1 << 20, wait: .seconds(1), clock: InstantClock())
        let server = TestServer(limits: RPCLimits(maximumResponseBytes: 40), answers: budget)
        let id = String(repeating: "i", count: 10_000)
        let call = #"{"jsonrpc":"2.0","method":"test.record","params":["a"],"id":"\#(id)"}"#
        let responses = try await server.response(to: "[\(Array(repeating: call, count: 50).joined(separator: ","))]")
        #expect(try #require(responses.elements).allSatisfy { $0.errorCode == 8 && $0["id"]?.rawBytes.count == 10_002 })
        #expect(budget.held == 0)
    }
}
