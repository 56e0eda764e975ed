internal import Synchronization

/// A clock that never advances: sleeping ends only by cancellation.
package struct FrozenClock: Clock {
    package struct Instant: InstantProtocol {
        fileprivate var offset = Duration.zero

        fileprivate init(offset: Duration = .zero) {
            self.offset = offset
        }

        package func advanced(by duration: Duration) -> Instant {
            Instant(offset: offset + duration)
        }

        package func duration(to other: Instant) -> Duration {
            other.offset - offset
        }

        package static func < (lhs: Instant, rhs: Instant) -> Bool {
            lhs.offset < rhs.offset
        }
    }

    package init() {}

    package var now: Instant { Instant() }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        await untilCancelled()
        try Task.checkCancellation()
    }
}

/// A clock on which sleeping returns immediately.
package struct InstantClock: Clock {
    package init() {}

    package var now: FrozenClock.Instant { FrozenClock.Instant() }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: FrozenClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
    }
}

/// A clock that sleeping advances immediately.
package final class SteppingClock: Clock {
    private let time = Mutex(FrozenClock.Instant())

    package init() {}

    package var now: FrozenClock.Instant { time.withLock(\.self) }
    package var minimumResolution: Duration { .zero }

    package func sleep(until deadline: FrozenClock.Instant, tolerance: Duration?) async throws {
        try Task.checkCancellation()
        time.withLock { $0 = max($0, deadline) }
    }
}

/// Returns when the task is cancelled.
package func untilCancelled() async {
    let (stream, continuation) = AsyncStream<Never>.makeStream()
    for await _ in stream {}
    continuation.finish()
}
