internal import DocumentModel
internal import Synchronization

/// The clock of commits, which can be told that a time has been read at.
final class CommitClock: Sendable {
    private struct State {
        /// The latest time that was read at.
        var reserved: Timestamp?
        /// The first time given to a commit of the batch that is under way: none of its commits is earlier.
        var underWay: Timestamp?
        /// Who waits for the end of that batch.
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())

    init(_ now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// The time now for a commit, later than every time that was reserved.
    func time() -> Timestamp {
        let now = now()
        return state.withLock { state in
            var time = now
            // A reserved time is no later than the clock was once, so there are later ones.
            if let reserved = state.reserved, reserved >= now {
                time = (try? Timestamp(microseconds: reserved.microseconds + 1)) ?? now
            }
            if state.underWay == nil { state.underWay = time }
            return time
        }
    }

    /// Notes that the commits whose times were given out are visible, or never will be.
    func endBatch() {
        let waiters = state.withLock { state in
            state.underWay = nil
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Makes sure that ``time()`` is later than `time` from now on; false when `time` is yet to come.
    func reserve(_ time: Timestamp) -> Bool {
        guard time <= now() else { return false }
        state.withLock { state in state.reserved = state.reserved.map { max($0, time) } ?? time }
        return true
    }

    /// Returns when no commit is under way that may have been given a time up to `time`, which has been reserved: what comes
    /// later has a later time.
    func settle(at time: Timestamp) async {
        await withCheckedContinuation { waiter in
            let isSettled = state.withLock { state in
                guard let underWay = state.underWay, underWay <= time else { return true }
                state.waiters.append(waiter)
                return false
            }
            if isSettled { waiter.resume() }
        }
    }
}
