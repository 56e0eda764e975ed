internal import DocumentModel
internal import DocumentStore
internal import Synchronization
internal import UTF8Text

/// The queue of pending commits. All commits that arrive while the committer is busy form its next batch (group commit).
final class CommitQueue: Sendable {
    private struct State {
        var pending: [PendingCommit] = []
        var isRunning = false
        var isClosed = false
        /// True while the idle timer is scheduled.
        var hasIdleTimer = false
    }

    private let state = Mutex(State())
    private let committer: Committer
    private let idleTime: Duration

    /// - Parameter idleTime: The time without a commit after which a checkpoint starts.
    init(_ committer: Committer, idleTime: Duration) {
        self.committer = committer
        self.idleTime = idleTime
    }

    /// Enqueues a commit and waits until it is durable and visible. Cancelling the task does not withdraw it.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: UTF8Key?
    ) async throws(StatusError) -> CommitResult {
        try await withCheckedContinuation { continuation in
            submit(PendingCommit(writes: writes, reads: reads, author: author, continuation: continuation))
        }.get()
    }

    /// Rejects new commits, completes the pending ones and closes the committer.
    ///
    /// A second call waits for the first, and returns nil.
    ///
    /// - Returns: The error that kept the store from being closed cleanly; nil on success.
    func close() async -> StatusError? {
        state.withLock { $0.isClosed = true }
        return await close(committer)
    }

    private func close(_ committer: isolated Committer) -> StatusError? {
        drain(committer)
        return committer.close()
    }

    private static let closed = StatusError(.unavailable, "Hearth is shutting down and no longer accepts writes.")

    private enum Admission {
        case rejected
        case enqueued
        case startsCommitter
    }

    private func submit(_ commit: PendingCommit) {
        let admission = state.withLock { state -> Admission in
            if state.isClosed { return .rejected }
            state.pending.append(commit)
            if state.isRunning { return .enqueued }
            state.isRunning = true
            return .startsCommitter
        }
        switch admission {
        case .rejected: commit.resume(with: .failure(Self.closed))
        case .enqueued: break
        case .startsCommitter: committer.submit { committer in self.drain(committer) }
        }
    }

    /// Processes the pending commits until there are none.
    private func drain(_ committer: isolated Committer) {
        while let commits = dequeuePending() { committer.process(commits) }
        scheduleIdleCheckpoint(committer)
    }

    /// Starts a checkpoint after ``idleTime`` without a commit. Only one timer is scheduled at a time.
    private func scheduleIdleCheckpoint(_ committer: isolated Committer) {
        guard let last = committer.uncheckpointedSequence else { return }
        let starts = state.withLock { state in
            defer { state.hasIdleTimer = true }
            return !state.hasIdleTimer && !state.isClosed
        }
        guard starts else { return }
        committer.submit(after: idleTime) { [weak self] committer in
            guard let self else { return }
            let isClosed = state.withLock { state in
                state.hasIdleTimer = false
                return state.isClosed
            }
            if isClosed { return }
            if committer.uncheckpointedSequence == last { committer.startCheckpoint() }
            // There have been commits since, or the checkpoint could not start.
            scheduleIdleCheckpoint(committer)
        }
    }

    private func dequeuePending() -> [PendingCommit]? {
        state.withLock { state in
            if state.pending.isEmpty {
                state.isRunning = false
                return nil
            }
            defer { state.pending = [] }
            return state.pending
        }
    }
}
