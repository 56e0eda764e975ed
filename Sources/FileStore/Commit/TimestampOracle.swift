internal import Concurrency
internal import DocumentModel
internal import Synchronization

/// Assigns commit times, and keeps them later than every time that a point-in-time read has used.
final class TimestampOracle: Sendable {
    private struct State {
        /// The latest observed read time.
        var observed: Timestamp?
        /// The first time assigned in the batch in flight; `nil` without a batch. No commit of the batch is earlier.
        var inFlight: Timestamp?
        /// Callers waiting for the end of that batch.
        var waiters = Waiters()
    }

    private let now: @Sendable () -> Timestamp
    private let state = Mutex(State())

    init(_ now: @escaping @Sendable () -> Timestamp) {
        self.now = now
    }

    /// Returns the current time for a commit, later than every observed read time.
    func nextCommitTime() -> Timestamp {
        let now = now()
        return state.withLock { state in
            var time = now
            // An observed time was not in the future, so later times exist.
            if let observed = state.observed, observed >= now {
                time = (try? Timestamp(microseconds: observed.microseconds + 1)) ?? now
            }
            if state.inFlight == nil { state.inFlight = time }
            return time
        }
    }

    /// Ends the batch in flight: its commits are visible or have failed.
    func endBatch() {
        let waiters = state.withLock { state in
            state.inFlight = nil
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Ensures that all commit times assigned from now on are later than `time`; returns `false` if `time` is in the future.
    func observeRead(at time: Timestamp) -> Bool {
        guard time <= now() else { return false }
        state.withLock { state in state.observed = state.observed.map { max($0, time) } ?? time }
        return true
    }

    /// Waits for the commits in flight whose times may be at or before `time`, which has been observed.
    ///
    /// - Throws: `.cancelled` when the task is cancelled.
    func waitForInFlightCommits(through time: Timestamp) async throws(StatusError) {
        let waiter = state.withLock { state -> Waiter? in
            guard let inFlight = state.inFlight, inFlight <= time else { return nil }
            return state.waiters.add()
        }
        guard await waiter?.wait() ?? true else { throw StatusError(.cancelled, "The task was cancelled.") }
    }
}
