/// Exponential backoff with jitter between attempts to reconnect. The first retry is immediate.
package struct ExponentialBackoff {
    private var delay = Duration.zero

    private static let minimum = Duration.milliseconds(100)
    private static let maximum = Duration.seconds(30)

    package init() {}

    /// True if there was a failure since the last success.
    package var hasFailed: Bool { delay > .zero }

    /// Resets the delay after a success.
    package mutating func reset() {
        delay = .zero
    }

    /// Returns the delay before the next attempt, randomly extended by up to half, so that clients don't reconnect simultaneously.
    ///
    /// - Parameter minimum: The delay that the server asks for, with its own jitter, at most five minutes; `nil` if it doesn't.
    package mutating func nextDelay(atLeast minimum: Duration? = nil) -> Duration {
        defer { delay = min(max(delay * 2, Self.minimum), Self.maximum) }
        return max(delay * Double.random(in: 1...1.5), min(minimum ?? .zero, .seconds(300)))
    }
}
