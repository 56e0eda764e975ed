import HearthService
import Testing

/// When those that lost are to try again.
@Suite struct ContentionTests {
    private let now = ContinuousClock.now

    /// An attempt that began so long after `now`.
    private func attempt(at start: Duration = .seconds(-10), lasting duration: Duration) -> Range<ContinuousClock.Instant> {
        (now + start)..<(now + start + duration)
    }

    @Test("The first may try at once, the others one after the other, each after the time that one takes")
    func turns() {
        var contention = Contention()
        let attempt = attempt(lasting: .milliseconds(8))
        let waits = (0..<5).map { _ in contention.turn(at: "a/1", after: attempt, now: now) }
        #expect(waits == [0, 8, 16, 24, 32].map { .milliseconds($0) })
        #expect(contention.turn(at: "a/2", after: attempt, now: now) == .zero, "who competes for something else")
        #expect(contention.turn(at: "a/1", after: attempt, now: now + .milliseconds(30)) == .milliseconds(10))
        #expect(contention.turn(at: "a/1", after: attempt, now: now + .seconds(1)) == .zero, "when all are through")
    }

    @Test("Turns are short at first, and as long as it takes those that lost again")
    func length() {
        var contention = Contention()
        let slow = attempt(lasting: .seconds(5))
        #expect(contention.turn(at: "a", after: slow, now: now) == .zero)
        #expect(
            contention.turn(at: "a", after: slow, now: now) == .milliseconds(16),
            "one of many may have waited for the others"
        )
        let again = attempt(at: .zero, lasting: .milliseconds(116))
        #expect(contention.turn(at: "a", after: again, now: now) == .milliseconds(32))
        #expect(contention.turn(at: "a", after: again, now: now) == .milliseconds(32 + 66))
        #expect(contention.turn(at: "a", after: again, now: now) == .milliseconds(32 + 66 + 91))
    }

    @Test("A turn takes a millisecond at least, and nobody waits for more than ten seconds or so")
    func bounds() {
        var contention = Contention()
        let quick = attempt(lasting: .zero)
        #expect(contention.turn(at: "a", after: quick, now: now) == .zero)
        #expect(contention.turn(at: "a", after: quick, now: now) == .milliseconds(1))
        let slow = attempt(at: .zero, lasting: .seconds(60))
        var longest = Duration.zero
        for _ in 0..<100 { longest = max(longest, contention.turn(at: "b", after: slow, now: now)) }
        #expect((.seconds(10)..<(.seconds(11))).contains(longest))
    }

    @Test("Very many places are not remembered for ever")
    func places() {
        var contention = Contention()
        let attempt = attempt(lasting: .seconds(1))
        for place in 0..<10_000 { #expect(contention.turn(at: "a/\(place)", after: attempt, now: now) == .zero) }
        #expect(contention.turn(at: "a/9999", after: attempt, now: now) > .zero)
    }
}
