internal import Concurrency
internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The queue of pending commits. All small commits that arrive while the committer is busy form its next batch (group commit). Large
/// commits proceed in steps between these batches, each of which may take as long as the batch before it.
final class CommitQueue: Sendable {
    private struct State {
        var pending: [PendingCommit] = []
        var pendingLarge: [PendingCommit] = []
        var isRunning = false
        var isClosed = false
        /// True while the idle timer is scheduled.
        var hasIdleTimer = false
    }

    private let state = Mutex(State())
    private let committer: Committer
    private let idleTime: Duration
    private let observer: (any StoreObserver)?

    /// - Parameters:
    ///   - idleTime: The time without a commit after which a checkpoint starts.
    ///   - observer: Receives the times that commits wait.
    init(_ committer: Committer, idleTime: Duration, observer: (any StoreObserver)?) {
        self.committer = committer
        self.idleTime = idleTime
        self.observer = observer
    }

    /// Enqueues a commit and waits until it is durable and visible. Cancelling the task does not withdraw it.
    ///
    /// - Returns: The result, and the time of the sync that made it durable; `nil` for a commit that changed nothing.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> (CommitResult, sync: Range<ContinuousClock.Instant>?) {
        let outcome = await withCheckedContinuation { continuation in
            submit(
                PendingCommit(writes: writes, reads: reads, author: author, identity: identity, continuation: continuation)
            )
        }
        return (try outcome.result.get(), outcome.sync)
    }

    /// Commits edits of files, as ``commit(_:validating:by:identity:)`` does writes.
    ///
    /// - Throws: `.aborted` if one of the files has changed since.
    func commit(_ edits: [FileEdit]) async throws(StatusError) -> CommitResult {
        let outcome = await withCheckedContinuation { continuation in
            submit(
                PendingCommit(
                    writes: edits.map(\.write),
                    reads: ReadSet(),
                    author: CommitAuthor(keyID: FileEdit.author(of: edits)),
                    identity: nil,
                    edits: Dictionary(uniqueKeysWithValues: edits.map { ($0.path, $0) }),
                    continuation: continuation
                )
            )
        }
        return try outcome.result.get()
    }

    /// Writes the file of the last committed version of a document anew, unless the file has changed.
    ///
    /// - Parameter identity: The identity that the file must have; `nil` for none.
    /// - Returns: `false` if the file could not be written.
    func rewrite(_ document: EncodedDocument, ifFileIs identity: FileIdentity?) async -> Bool {
        await rewrite(document, ifFileIs: identity, committer)
    }

    private func rewrite(
        _ document: EncodedDocument,
        ifFileIs identity: FileIdentity?,
        _ committer: isolated Committer
    ) -> Bool {
        !state.withLock(\.isClosed) && committer.rewrite(document, ifFileIs: identity)
    }

    /// Rejects new commits, completes the pending ones and closes the committer.
    ///
    /// A second call waits for the first, and returns `nil`.
    ///
    /// - Returns: The error that kept the store from being closed cleanly; `nil` on success.
    func close() async -> StatusError? {
        state.withLock { $0.isClosed = true }
        return await close(committer)
    }

    /// Applies commits of a primary, as ``Committer/apply(_:)`` does.
    func apply(_ commits: [Commit]) async throws(StatusError) {
        try await apply(commits, committer)
    }

    private func apply(_ commits: [Commit], _ committer: isolated Committer) throws(StatusError) {
        guard !state.withLock(\.isClosed) else { throw Self.closed }
        defer { scheduleIdleCheckpoint(committer) }
        try committer.apply(commits)
    }

    private func close(_ committer: isolated Committer) -> StatusError? {
        drain(committer)
        return committer.close()
    }

    private static let closed = StatusError(.unavailable, "The database is closing and no longer accepts writes.")

    private enum Admission {
        case rejected
        case enqueued
        case startsCommitter
    }

    private func submit(_ commit: PendingCommit) {
        let admission = state.withLock { state -> Admission in
            if state.isClosed { return .rejected }
            if commit.isLarge { state.pendingLarge.append(commit) } else { state.pending.append(commit) }
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
        let clock = ContinuousClock()
        while let next = dequeuePending(committer) {
            let start = clock.now
            let (small, large) = (admitted(next.small), admitted(next.large))
            if !small.isEmpty { committer.process(small) }
            if !large.isEmpty { committer.startLargeBatch(large) }
            guard committer.hasLargeBatch else { continue }
            let now = clock.now
            committer.continueLargeBatch(until: now + min(max(now - start, Self.minimumStep), Self.maximumStep))
        }
        scheduleIdleCheckpoint(committer)
    }

    /// Returns the commits to process, those of transactions first. Refuses those that have waited too long, for example because the
    /// disk did not respond.
    private func admitted(_ commits: [PendingCommit]) -> [PendingCommit] {
        var (transactions, others): ([PendingCommit], [PendingCommit]) = ([], [])
        for commit in commits {
            observer?.didWait(in: .commit, nanoseconds: commit.waiting.nanoseconds)
            if let refusal = commit.admission?.begin(after: commit.waiting) {
                commit.resume(with: .failure(StatusError(refusing: refusal)))
            } else if commit.isOfTransaction {
                transactions.append(commit)
            } else {
                others.append(commit)
            }
        }
        return transactions + others
    }

    /// The range of the duration of a step of a large batch.
    private static let minimumStep = Duration.milliseconds(1)
    private static let maximumStep = Duration.milliseconds(50)

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

    /// Returns the pending small commits, and large ones for a new batch; `nil` if the committer has nothing to do.
    private func dequeuePending(_ committer: isolated Committer) -> (small: [PendingCommit], large: [PendingCommit])? {
        let hasLargeBatch = committer.hasLargeBatch
        return state.withLock { state in
            let small = state.pending
            state.pending = []
            var large: [PendingCommit] = []
            if !hasLargeBatch {
                var writeCount = 0
                large = Array(
                    state.pendingLarge.prefix { commit in
                        writeCount += commit.writes.count
                        return writeCount <= CommitBatch.maximumWrites
                    }
                )
                if large.isEmpty { large = Array(state.pendingLarge.prefix(1)) }
                state.pendingLarge.removeFirst(large.count)
            }
            if small.isEmpty, large.isEmpty, !hasLargeBatch {
                state.isRunning = false
                return nil
            }
            return (small, large)
        }
    }
}
