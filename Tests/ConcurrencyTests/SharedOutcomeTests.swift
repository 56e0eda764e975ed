import Testing

@testable import Concurrency

@Suite("Shared outcomes", .timeLimit(.minutes(10)))
struct SharedOutcomeTests {
    @Test
    func `Callers that have waited in vain leave nothing behind, and later ones get the outcome`() async {
        let outcome = SharedOutcome<Int?>()
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<200 { group.addTask { #expect(await outcome.value(within: .milliseconds(1)) == nil) } }
        }
        #expect(outcome.waiterCount == 0)
        #expect(!outcome.hasEnded)
        async let awaited = outcome.value(within: .seconds(600))
        while outcome.waiterCount == 0 { await Task.yield() }
        outcome.end(with: nil)
        #expect(await awaited == .some(nil))
        #expect(outcome.hasEnded)
        #expect(await outcome.value(within: .zero) == .some(nil))
    }

    @Test
    func `A cancellation ends the wait`() async {
        let outcome = SharedOutcome<Int>()
        let task = Task { await outcome.value(within: .seconds(600)) }
        task.cancel()
        #expect(await task.value == nil)
    }
}
