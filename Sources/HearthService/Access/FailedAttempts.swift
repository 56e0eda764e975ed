package import StrictJSON
import Synchronization

/// How often each client address has shown a key that is not known.
///
/// An address may do so some times, and then once in a while. That protects no key, which nobody guesses, but the log, and the
/// file of the keys from being looked at for nothing.
package final class FailedAttempts: Sendable {
    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    /// Until when the attempts of an address count.
    private let ends = Mutex<[UTF8Key: ContinuousClock.Instant]>([:])

    /// After how long an attempt is forgiven.
    private static let interval = Duration.seconds(3)
    private static let maximumAddresses = 4_096

    /// - Parameter limit: How many times in a row an address may fail.
    package init(limit: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.limit = limit
        self.now = now
    }

    /// Whether an address has made as many as it may, for now.
    package func areTooMany(from address: UTF8Key) -> Bool {
        ends.withLock { [now = now()] ends in ends[address].map { excess(of: $0, at: now) > .zero } ?? false }
    }

    /// Counts an attempt.
    ///
    /// - Returns: How long to wait before the next one, when there were too many.
    package func note(from address: UTF8Key) -> Duration? {
        ends.withLock { [now = now()] ends in
            if ends.count >= Self.maximumAddresses { ends = ends.filter { $0.value > now } }
            // As many addresses at a time are no longer of use to tell one from another.
            if ends.count >= Self.maximumAddresses { ends = [:] }
            let end = max(ends[address] ?? now, now)
            let excess = excess(of: end, at: now)
            guard excess <= .zero else { return excess }
            ends[address] = end + Self.interval
            return nil
        }
    }

    private func excess(of end: ContinuousClock.Instant, at now: ContinuousClock.Instant) -> Duration {
        (end - now) - Self.interval * (limit - 1)
    }
}
