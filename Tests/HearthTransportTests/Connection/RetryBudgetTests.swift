import Testing

@testable import HearthTransport

@Suite("Retry budget") struct RetryBudgetTests {
    private let start = ContinuousClock.now

    @Test func `A client that does not succeed makes twenty retries, and then two each second`() {
        let budget = RetryBudget(at: start)
        let taken = (0..<100).filter { _ in budget.take(at: start) }.count
        #expect(taken == 20)
        let later = start + .seconds(10)
        #expect((0..<100).filter { _ in budget.take(at: later) }.count == 20)
        let soon = later + .seconds(1)
        #expect((0..<100).filter { _ in budget.take(at: soon) }.count == 2)
    }

    @Test func `A tenth of the calls that succeed may be sent again`() {
        let budget = RetryBudget(at: start)
        while budget.take(at: start) {}
        for _ in 0..<105 { budget.recordSuccess() }
        #expect((0..<100).filter { _ in budget.take(at: start) }.count == 10)
    }

    @Test func `What must be sent again waits for its turn`() {
        let budget = RetryBudget(at: start)
        while budget.take(at: start) {}
        #expect((1...4).map { _ in budget.reserve(at: start) } == [.seconds(0.5), .seconds(1), .seconds(1.5), .seconds(2)])
        // Others come after it.
        #expect(!budget.take(at: start + .seconds(2)))
        #expect(budget.take(at: start + .seconds(3)))
    }

    @Test
    func `Retries work soon after a long outage, however many commits were sent again meanwhile`() {
        let start = ContinuousClock.now
        let budget = RetryBudget(at: start)
        let last = (0..<10_000).map { _ in budget.reserve(at: start) }.last
        #expect(last == .seconds(15))
        #expect(!budget.take(at: start + .seconds(15)))
        #expect(budget.take(at: start + .seconds(15.5)))
    }
}
