internal import DocumentModel
internal import Synchronization

/// The clock of commits, which can be told that a time has been read at.
final class CommitClock: Sendable {
    private let now: @Sendable () -> Timestamp
    private let reserved = Mutex<Timestamp?>(nil)

    init(_ now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// The time now, later than every time that was reserved.
    func time() -> Timestamp {
        let now = now()
        guard let reserved = reserved.withLock({ $0 }), reserved >= now else { return now }
        // A reserved time is no later than the clock was once, so there are later ones.
        return (try? Timestamp(microseconds: reserved.microseconds + 1)) ?? now
    }

    /// Makes sure that ``time()`` is later than `time` from now on; false when `time` is yet to come.
    func reserve(_ time: Timestamp) -> Bool {
        guard time <= now() else { return false }
        reserved.withLock { $0 = $0.map { max($0, time) } ?? time }
        return true
    }
}
