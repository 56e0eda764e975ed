internal import Synchronization

/// A limit on calls that are sent again after a failure of the server, so that the clients of a server in trouble do not add to it: a tenth of
/// the calls that succeed, and some more each second for clients that make few.
package final class RetryBudget: Sendable {
    private struct State {
        /// The number of retries that may be made at once. Below zero, retries wait that have been promised.
        var tokens = maximum
        var time: ContinuousClock.Instant

        mutating func refill(at now: ContinuousClock.Instant) {
            let seconds = max(0, (now - time) / .seconds(1))
            time = max(time, now)
            tokens = min(maximum, tokens + seconds * perSecond)
        }
    }

    private let state: Mutex<State>

    /// The share of successful calls that may be sent again.
    private static let share = 0.1
    private static let perSecond = 2.0
    private static let maximum = 20.0
    /// The number of promised retries that later ones wait for, however many were made during a long outage.
    private static let maximumDebt = 30.0

    package init(at now: ContinuousClock.Instant = .now) {
        state = Mutex(State(time: now))
    }

    /// Records a call that has succeeded.
    func recordSuccess() {
        state.withLock { $0.tokens = min(Self.maximum, $0.tokens + Self.share) }
    }

    /// Takes a retry; returns `false` if there is none.
    package func take(at now: ContinuousClock.Instant = .now) -> Bool {
        state.withLock { state in
            state.refill(at: now)
            guard state.tokens >= 1 else { return false }
            state.tokens -= 1
            return true
        }
    }

    /// Takes a retry for a call that must be sent again, and returns the time after which it may be: those of others come first.
    func reserve(at now: ContinuousClock.Instant = .now) -> Duration {
        state.withLock { state in
            state.refill(at: now)
            state.tokens = max(state.tokens - 1, -Self.maximumDebt)
            return .seconds(max(0, -state.tokens / Self.perSecond))
        }
    }
}
