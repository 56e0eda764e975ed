internal import Dispatch
internal import DocumentModel
internal import Synchronization

extension DocumentIndex {
    /// Returns when a commit, and all before it, are in the index.
    ///
    /// - Throws: `.unavailable` when the index can't be used, or is being made anew and that takes long; `.cancelled` when the
    ///   task is cancelled.
    func waitUntilApplied(_ sequence: SequenceNumber) async throws(StatusError) {
        let deadline = ContinuousClock.now + patience
        while true {
            let (phase, applied, changes) = state.withLock { ($0.phase, $0.applied, $0.changes) }
            switch phase {
            case .ready: if let applied, applied >= sequence { return }
            case .closed: throw Self.closed
            case .failed(let error): throw error
            case .starting, .rebuilding:
                guard ContinuousClock.now < deadline else { throw phase.notReady }
            }
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            await waitForChange(after: changes)
        }
    }

    /// Returns when the index is complete, with all that is defined beside single fields, however long that takes.
    ///
    /// - Parameter onProgress: Called now and then, while the index is made anew, with the number of documents in it.
    func waitUntilReady(onProgress: (Int) -> Void) async throws(StatusError) {
        while true {
            let (phase, changes, isConforming) = state.withLock { ($0.phase, $0.changes, $0.isConforming) }
            switch phase {
            case .ready: if !isConforming { return }
            case .closed: throw Self.closed
            case .failed(let error): throw error
            case .rebuilding(let documents): onProgress(documents)
            case .starting: break
            }
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            await waitForChange(after: changes)
        }
    }

    static let closed = StatusError(.unavailable, "Hearth is stopping.")

    /// Returns when there have been more changes than that, or after a second.
    private func waitForChange(after changes: Int) async {
        let id = state.withLock { state in
            state.waiterCount += 1
            return state.waiterCount
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isDone = state.withLock { state in
                    if Task.isCancelled || state.changes > changes { return true }
                    state.waiters[id] = continuation
                    return false
                }
                if isDone { return continuation.resume() }
                let isQueued = state.withLock { state in
                    defer { state.isWorkQueued = true }
                    return state.isWorkQueued
                }
                if !isQueued { thread.async { self.work() } }
                DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { self.wake(id) }
            }
        } onCancel: {
            wake(id)
        }
    }

    private func wake(_ id: UInt64) {
        state.withLock { $0.waiters.removeValue(forKey: id) }?.resume()
    }
}

extension DocumentIndex {
    /// Runs `body` with a snapshot of the index that has at least the commits up to `sequence`, on a thread for such work.
    ///
    /// Cancelling the task ends what the snapshot is doing, with `.cancelled`.
    func read<Result: Sendable>(
        atLeast sequence: SequenceNumber,
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await waitUntilApplied(sequence)
        do throws(StatusError) {
            return try await readers.read { snapshot throws(StatusError) in
                guard snapshot.sequence >= sequence else { throw IndexFailure.replaced.status }
                return try body(snapshot)
            }
        } catch {
            if let failure = error.cause as? IndexFailure, failure.isDamage { remake(because: failure) }
            throw error
        }
    }

    /// Makes the index anew, since a reader found it damaged.
    private func remake(because failure: IndexFailure) {
        thread.async {
            let isBegun = self.state.withLock { state in
                guard case .ready = state.phase, state.closing == nil else { return false }
                return true
            }
            guard isBegun else { return }
            self.applier.withLock { self.fail(.index(failure), &$0) }
        }
    }
}
