import HearthAPI
import Testing

@Suite("Retry scheduler") struct RetrySchedulerTests {
    private let now = ContinuousClock.now

    /// An attempt that starts at an offset from `now`.
    private func attempt(at start: Duration = .seconds(-10), lasting duration: Duration) -> Range<ContinuousClock.Instant> {
        (now + start)..<(now + start + duration)
    }

    @Test
    func `The first transaction retries immediately, the others in consecutive slots`() {
        var scheduler = RetryScheduler()
        let attempt = attempt(lasting: .milliseconds(8))
        let waits = (0..<5).map { _ in scheduler.delay(forConflictAt: "a/1", attempt: attempt, now: now) }
        #expect(waits == [0, 8, 16, 24, 32].map { .milliseconds($0) })
        #expect(scheduler.delay(forConflictAt: "a/2", attempt: attempt, now: now) == .zero, "a conflict on another document")
        #expect(scheduler.delay(forConflictAt: "a/1", attempt: attempt, now: now + .milliseconds(30)) == .milliseconds(10))
        #expect(scheduler.delay(forConflictAt: "a/1", attempt: attempt, now: now + .seconds(1)) == .zero, "after all slots")
    }

    @Test
    func `Slots are short at first and adapt to transactions that fail again`() {
        var scheduler = RetryScheduler()
        let slow = attempt(lasting: .seconds(5))
        #expect(scheduler.delay(forConflictAt: "a", attempt: slow, now: now) == .zero)
        #expect(
            scheduler.delay(forConflictAt: "a", attempt: slow, now: now) == .milliseconds(16),
            "an attempt before the queue may have been slow because of others"
        )
        let again = attempt(at: .zero, lasting: .milliseconds(116))
        #expect(scheduler.delay(forConflictAt: "a", attempt: again, now: now) == .milliseconds(32))
        #expect(scheduler.delay(forConflictAt: "a", attempt: again, now: now) == .milliseconds(32 + 66))
        #expect(scheduler.delay(forConflictAt: "a", attempt: again, now: now) == .milliseconds(32 + 66 + 91))
    }

    @Test
    func `A slot takes at least one millisecond, and the delay is limited to ten seconds`() {
        var scheduler = RetryScheduler()
        let quick = attempt(lasting: .zero)
        #expect(scheduler.delay(forConflictAt: "a", attempt: quick, now: now) == .zero)
        #expect(scheduler.delay(forConflictAt: "a", attempt: quick, now: now) == .milliseconds(1))
        let slow = attempt(at: .zero, lasting: .seconds(60))
        var longest = Duration.zero
        for _ in 0..<100 { longest = max(longest, scheduler.delay(forConflictAt: "b", attempt: slow, now: now)) }
        #expect((.seconds(10)..<(.seconds(11))).contains(longest))
    }

    @Test
    func `The number of queues is limited`() {
        var scheduler = RetryScheduler()
        let attempt = attempt(lasting: .seconds(1))
        for number in 0..<10_000 { #expect(scheduler.delay(forConflictAt: "a/\(number)", attempt: attempt, now: now) == .zero) }
        #expect(scheduler.delay(forConflictAt: "a/9999", attempt: attempt, now: now) > .zero)
    }
}
