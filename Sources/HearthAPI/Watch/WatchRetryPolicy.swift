/// The retry policy of a stream whose reads the store rejects because of overload.
///
/// After a burst of changes, many watchers may read at once, and the store admits only some of them at a time. Each watcher
/// retries independently, at randomized intervals.
package struct WatchRetryPolicy: Sendable {
    /// The total time after which the stream fails.
    package var timeout: Duration
    /// The average interval between two attempts.
    package var interval: Duration

    package init(timeout: Duration, interval: Duration) {
        self.timeout = timeout
        self.interval = interval
    }

    /// No retries.
    package static let none = WatchRetryPolicy(timeout: .zero, interval: .zero)
    /// The policy of HTTP streams. The timeout is shorter than the silence after which clients and proxies drop a connection.
    package static let streaming = WatchRetryPolicy(timeout: .seconds(30), interval: .seconds(1))

    /// A random interval from half to one and a half times ``interval``.
    var nextInterval: Duration { interval * Double.random(in: 0.5...1.5) }
}
