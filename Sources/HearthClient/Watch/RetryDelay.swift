internal import DocumentModel

/// How long to wait before a stream is tried again: not at all for the first time, then longer and longer.
struct RetryDelay {
    private var next = Duration.zero

    private static let first = Duration.milliseconds(100)
    private static let longest = Duration.seconds(30)

    /// The stream works.
    mutating func reset() {
        next = .zero
    }

    /// The time to wait now, by chance up to half as long again, so that not all clients come back at the same moment.
    mutating func take() -> Duration {
        defer { next = min(max(next * 2, Self.first), Self.longest) }
        return next * Double.random(in: 1...1.5)
    }
}

extension StatusError {
    /// Whether the same call may succeed later.
    var isTransient: Bool {
        switch code {
        case .unavailable, .deadlineExceeded, .resourceExhausted, .aborted, .cancelled, .internal, .unknown: true
        case .invalidArgument, .notFound, .alreadyExists, .permissionDenied, .failedPrecondition, .outOfRange, .unimplemented,
            .dataLoss, .unauthenticated:
            false
        }
    }
}
