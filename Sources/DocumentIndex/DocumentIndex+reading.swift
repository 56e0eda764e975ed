internal import Concurrency
internal import Dispatch
package import DocumentModel
package import DocumentStore
internal import StorageIO
internal import Synchronization

extension DocumentIndex {
    /// Runs `body` with a snapshot that contains all commits up to `sequence`, on a reader thread.
    ///
    /// Cancelling the task cancels the read, with `.cancelled`.
    ///
    /// - Parameter isUse: Whether the read counts as a use (``useCount``), after which the caches are kept for some time.
    package func read<Result: Sendable>(
        atLeast sequence: SequenceNumber,
        isUse: Bool = true,
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await waitUntilApplied(sequence)
        do throws(StatusError) {
            return try await readers.read(isUse: isUse) { snapshot throws(StatusError) in
                guard snapshot.sequence >= sequence else { throw IndexDatabaseError.fileReplaced.status }
                return try body(snapshot)
            }
        } catch {
            if let cause = error.cause as? IndexDatabaseError, cause.isCorruption { rebuild(because: cause) }
            throw error
        }
    }

    /// Rebuilds the index after a reader found it corrupt.
    private func rebuild(because error: IndexDatabaseError) {
        maintenanceQueue.async {
            let isReady = self.state.withLock { state in
                guard case .ready = state.phase, state.closing == nil else { return false }
                return true
            }
            guard isReady else { return }
            self.maintainer.withLock { self.handleFailure(.database(error), &$0) }
        }
    }

    /// Waits until a commit and all those before it are in the index.
    ///
    /// - Throws: `.unavailable` when the index cannot be used, is being rebuilt from more than ``waitDocumentCount`` documents, or
    ///   is not ready within ``waitTimeout``; `.cancelled` when the task is cancelled.
    package func waitUntilApplied(_ sequence: SequenceNumber) async throws(StatusError) {
        let start = ContinuousClock.now
        while true {
            let (phase, applied, changeCount) = state.withLock { ($0.phase, $0.applied, $0.changeCount) }
            if case .ready = phase, let applied, applied >= sequence { return }
            if let error = queryError(in: phase, waitingSince: start, at: .now) { throw error }
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            await waitForChange(after: changeCount)
        }
    }

    /// Returns the error of a query in a phase of the index; `nil` if it can run, or waits.
    ///
    /// - Parameter start: The time since which it has waited; `nil` if it has not.
    func queryError(
        in phase: Phase,
        waitingSince start: ContinuousClock.Instant?,
        at now: ContinuousClock.Instant
    ) -> StatusError? {
        let mayWait = start.map { now < $0 + waitTimeout } ?? true
        switch phase {
        case .ready: return nil
        case .closed: return Self.closed
        case .failed(let error): return error
        case .starting: return mayWait ? nil : Self.catchingUp
        case .rebuilding(let progress):
            if mayWait, progress.knownCount <= waitDocumentCount { return nil }
            return StatusError(rebuilding: progress.report(at: now))
        }
    }

    /// Waits, without a timeout, until the index is complete and all backfills are finished.
    ///
    /// - Parameter onProgress: Called periodically during a rebuild, with the number of documents so far.
    package func waitUntilReady(onProgress: (Int) -> Void) async throws(StatusError) {
        while true {
            let (phase, changeCount, needsBackfill) = state.withLock { ($0.phase, $0.changeCount, $0.needsBackfill) }
            switch phase {
            case .ready: if !needsBackfill { return }
            case .closed: throw Self.closed
            case .failed(let error): throw error
            case .rebuilding(let progress): onProgress(progress.readCount)
            case .starting: break
            }
            guard !Task.isCancelled else { throw StatusError(.cancelled, "The task was cancelled.") }
            await waitForChange(after: changeCount)
        }
    }

    /// Waits until the change count exceeds a value, for at most a second.
    private func waitForChange(after changeCount: Int) async {
        let (waiter, isScheduled) = state.withLock { state -> (Waiter?, Bool) in
            guard state.changeCount == changeCount else { return (nil, true) }
            defer { state.isImmediateRunScheduled = true }
            return (state.waiters.add(), state.isImmediateRunScheduled)
        }
        guard let waiter else { return }
        if !isScheduled { maintenanceQueue.async { self.runMaintenance() } }
        DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(1)) { waiter.resume() }
        await waiter.wait()
    }
}

extension DocumentIndex {
    /// The error of a query that waited until the timeout for commits to be applied.
    private static var catchingUp: StatusError {
        var error = StatusError(
            .unavailable,
            "The index is not ready: it is applying recent commits. Queries need it; try again later. Document reads and writes are "
                + "unaffected."
        )
        error.retryAfter = .seconds(1)
        return error
    }
}
