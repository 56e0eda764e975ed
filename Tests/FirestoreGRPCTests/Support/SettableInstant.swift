import Synchronization

/// A time that tests advance.
final class SettableInstant: Sendable {
    private let instant = Mutex(ContinuousClock.now)

    var now: ContinuousClock.Instant { instant.withLock(\.self) }

    func advance(by duration: Duration) {
        instant.withLock { $0 += duration }
    }
}
