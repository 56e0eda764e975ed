internal import Dispatch
internal import DocumentModel
internal import Synchronization

extension DocumentIndex {
    /// How much may gather while nobody waits for it.
    private static let gatheredBytes = 4 << 20
    /// How much may wait before the committer does.
    private static let queuedBytes = 16 << 20
    /// How long commits may gather.
    private static let gatheringTime = DispatchTimeInterval.milliseconds(250)

    /// Makes commits known that follow those before; their documents' files are in place.
    func add(_ update: IndexUpdate) {
        let isUrgent: Bool? = state.withLock { state in
            guard case .closed = state.phase else {
                state.last = (update.last, update.time)
                state.queue.append(update)
                state.queuedBytes += update.byteCount
                if state.queuedBytes > Self.queuedBytes, !state.phase.takesCommits {
                    // The journal has them.
                    state.queue = []
                    state.queuedBytes = 0
                }
                guard case .ready = state.phase else { return nil }
                let isUrgent = !state.waiters.isEmpty || state.queuedBytes >= Self.gatheredBytes
                guard isUrgent || !state.isWorkDue else { return nil }
                state.isWorkDue = true
                return isUrgent
            }
            return nil
        }
        switch isUrgent {
        case true?: thread.async { self.work() }
        case false?: thread.asyncAfter(deadline: .now() + Self.gatheringTime) { self.work() }
        case nil: break
        }
    }

    /// Blocks the committer's thread while too much waits, so that the index never lags far behind.
    func waitForRoom() {
        let semaphore: DispatchSemaphore? = state.withLock { state in
            guard state.queuedBytes > Self.queuedBytes, state.phase.takesCommits, state.closing == nil else { return nil }
            let semaphore = DispatchSemaphore(value: 0)
            state.blocked = semaphore
            return semaphore
        }
        semaphore?.wait()
    }
}
