internal import Dispatch
internal import DocumentModel
internal import StrictJSON
internal import Synchronization

/// Where commits wait: everything that came in while the committer was busy goes into its next batch.
///
/// The committer runs on a thread of its own, because it spends its time waiting for the disk.
final class CommitQueue: Sendable {
    private struct State {
        var waiting: [PendingCommit] = []
        var isRunning = false
        var isClosed = false
        /// Whether it is being waited for that no commit comes.
        var awaitsIdleness = false
    }

    private let state = Mutex(State())
    private let thread = DispatchQueue(label: "hearth.committer")
    private let committer: Committer
    private let idleTime: Duration

    /// - Parameter idleTime: After how long without a commit the documents' files are brought to disk.
    init(_ committer: Committer, idleTime: Duration) {
        self.committer = committer
        self.idleTime = idleTime
    }

    /// Waits for its turn, and for the disk. Cancelling the task does not take the commit back.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: UTF8Key?
    ) async throws(StatusError) -> CommitResult {
        try await withCheckedContinuation { caller in
            submit(PendingCommit(writes: writes, reads: reads, author: author, caller: caller))
        }.get()
    }

    /// Takes no more commits, and returns when those that were taken are done and all is on disk, or with the reason why it is
    /// not. Who closes it again waits for the first time to end.
    func close() async -> StatusError? {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                let isFirst = !state.isClosed
                state.isClosed = true
                thread.async {
                    self.drain()
                    continuation.resume(returning: isFirst ? self.committer.finish() : nil)
                }
            }
        }
    }

    private static let closed = StatusError(.unavailable, "Hearth is stopping and takes no more writes.")

    private enum Admission {
        case refused
        case waits
        case startsCommitter
    }

    private func submit(_ pending: PendingCommit) {
        let admission = state.withLock { state -> Admission in
            if state.isClosed { return .refused }
            state.waiting.append(pending)
            if state.isRunning { return .waits }
            state.isRunning = true
            return .startsCommitter
        }
        switch admission {
        case .refused: pending.finish(.failure(Self.closed))
        case .waits: break
        case .startsCommitter: thread.async { self.drain() }
        }
    }

    private func drain() {
        while let commits = next() { committer.process(commits) }
        awaitIdleness()
    }

    /// Begins a checkpoint when no commit comes for a while; one timer at a time, however many commits do.
    private func awaitIdleness() {
        guard let last = committer.uncheckedSequence else { return }
        let begins = state.withLock { state in
            defer { state.awaitsIdleness = true }
            return !state.awaitsIdleness && !state.isClosed
        }
        guard begins else { return }
        thread.asyncAfter(deadline: .now() + idleTime.seconds) { [weak self] in
            guard let self else { return }
            let isClosed = state.withLock { state in
                state.awaitsIdleness = false
                return state.isClosed
            }
            if isClosed { return }
            if committer.uncheckedSequence == last { committer.startCheckpoint() }
            // There have been commits, or the checkpoint could not begin.
            awaitIdleness()
        }
    }

    private func next() -> [PendingCommit]? {
        state.withLock { state in
            if state.waiting.isEmpty {
                state.isRunning = false
                return nil
            }
            defer { state.waiting = [] }
            return state.waiting
        }
    }
}

extension Duration {
    fileprivate var seconds: Double {
        Double(components.seconds) + Double(components.attoseconds) / 1e18
    }
}
