import Synchronization
package import UTF8Text

/// A rate limiter for failed authentication attempts, by client network.
///
/// A network may fail a limited number of times in a row, and then once per interval. Keys are too long to guess; the limit
/// protects the log from flooding, and the key file from being reread for every attempt.
package final class FailedAttemptLimiter: Sendable {
    private let limit: Int
    private let now: @Sendable () -> ContinuousClock.Instant
    /// The time at which the last attempt of a network no longer counts.
    private let expirations = Mutex<[UTF8Key: ContinuousClock.Instant]>([:])

    /// The time after which one attempt no longer counts.
    private static let interval = Duration.seconds(3)
    private static let maximumNetworks = 4_096

    /// - Parameter limit: The number of consecutive failures that a network is allowed.
    package init(limit: Int, now: @escaping @Sendable () -> ContinuousClock.Instant = { .now }) {
        self.limit = limit
        self.now = now
    }

    /// Returns whether a network has reached its limit.
    package func isLimited(from network: UTF8Key) -> Bool {
        expirations.withLock { [now = now()] expirations in
            expirations[network].map { excess(of: $0, at: now) > .zero } ?? false
        }
    }

    /// Counts a failed attempt.
    ///
    /// - Returns: The time to wait before the next attempt if the network has exceeded its limit.
    package func recordFailure(from network: UTF8Key) -> Duration? {
        expirations.withLock { [now = now()] expirations in
            if expirations.count >= Self.maximumNetworks { expirations = expirations.filter { $0.value > now } }
            // An attack from this many networks at once cannot be limited by network.
            if expirations.count >= Self.maximumNetworks { expirations = [:] }
            let expiration = max(expirations[network] ?? now, now)
            let excess = excess(of: expiration, at: now)
            guard excess <= .zero else { return excess }
            expirations[network] = expiration + Self.interval
            return nil
        }
    }

    private func excess(of expiration: ContinuousClock.Instant, at now: ContinuousClock.Instant) -> Duration {
        (expiration - now) - Self.interval * (limit - 1)
    }
}
