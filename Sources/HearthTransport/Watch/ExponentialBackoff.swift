package import DocumentModel

/// Exponential backoff with jitter between attempts to reconnect. The first retry is immediate.
package struct ExponentialBackoff {
    private var delay = Duration.zero

    private static let minimum = Duration.milliseconds(100)
    private static let maximum = Duration.seconds(30)

    package init() {}

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

extension StatusError {
    /// True if the same call may succeed when it is retried.
    package var isTransient: Bool {
        // The provider may be unable to reach the issuer.
        if cause is TokenProviderFailure || isExecuted == false { return true }
        return switch code {
        case .unavailable, .deadlineExceeded, .resourceExhausted, .aborted, .cancelled, .internal, .unknown: true
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange, .unimplemented,
            .dataLoss, .unauthenticated:
            false
        }
    }
}
