internal import Concurrency
internal import Dispatch
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
        /// The work for the committer between two batches.
        var pendingWork: [Work] = []
        var isRunning = false
        var isClosed = false
        /// True while the idle timer is scheduled.
        var hasIdleTimer = false
        /// True while ``CommitQueue/refuseLateCommits()`` is scheduled.
        var isWatched = false

        /// True if a commit waits that may be refused.
        var hasCalls: Bool { pending.contains { $0.admission != nil } || pendingLarge.contains { $0.admission != nil } }

        /// Removes the commits that have waited too long.
        mutating func removeLate() -> [PendingCommit] {
            pending.removeAndReturn(where: \.isLate) + pendingLarge.removeAndReturn(where: \.isLate)
        }
    }

    private typealias Work = @Sendable (isolated Committer) -> Void

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
    /// - Parameter authorization: The decision whether they are permitted; `nil` if they are.
    /// - Throws: `.aborted` if one of the files has changed since; the error of the authorization.
    func commit(
        _ edits: [FileEdit],
        authorization: (any CommitAuthorization)?
    ) async throws(StatusError) -> CommitResult {
        let outcome = await withCheckedContinuation { continuation in
            submit(
                PendingCommit(
                    writes: edits.map(\.write),
                    reads: ReadSet(),
                    author: CommitAuthor(keyID: FileEdit.author(of: edits), authorization: authorization),
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
        await betweenBatches { [self] committer in
            !state.withLock(\.isClosed) && committer.rewrite(document, ifFileIs: identity)
        }
    }

    /// Lets the file of the last committed version of a document keep its text, as ``Committer/keepText(_:of:)`` does.
    func keepText(_ edit: FileEdit, of document: EncodedDocument) async -> Bool {
        await betweenBatches { [self] committer in
            !state.withLock(\.isClosed) && committer.keepText(edit, of: document)
        }
    }

    /// Retries the recovery of a quarantined document, as ``Committer/retryQuarantined(_:)`` does.
    func retryQuarantined(_ path: DocumentPath) async -> StatusError? {
        await betweenBatches { committer in committer.retryQuarantined(path) }
    }

    /// Returns once the batch in progress has ended, whose documents may have been written to their files and not to the cache.
    func waitForBatch() async {
        await betweenBatches { _ in }
    }

    /// Runs work on the committer once the batch in progress has ended, before that of the commits that wait.
    private func betweenBatches<Result: Sendable>(
        _ work: @escaping @Sendable (isolated Committer) -> Result
    ) async -> Result {
        await withCheckedContinuation { continuation in
            let starts = state.withLock { state in
                state.pendingWork.append { committer in continuation.resume(returning: work(committer)) }
                defer { state.isRunning = true }
                return !state.isRunning
            }
            if starts { committer.submit { committer in self.drain(committer) } }
        }
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
        case enqueued(isToBeWatched: Bool)
        case startsCommitter(isToBeWatched: Bool)
    }

    /// The time between two looks for commits that have waited too long.
    private static let lateInterval = DispatchTimeInterval.milliseconds(250)
    private static let lateQueue = DispatchQueue(label: "hearth.commits.late")

    private func submit(_ commit: PendingCommit) {
        let admission = state.withLock { state -> Admission in
            if state.isClosed { return .rejected }
            if commit.isLarge { state.pendingLarge.append(commit) } else { state.pending.append(commit) }
            let isToBeWatched = !state.isWatched && commit.admission != nil
            if isToBeWatched { state.isWatched = true }
            if state.isRunning { return .enqueued(isToBeWatched: isToBeWatched) }
            state.isRunning = true
            return .startsCommitter(isToBeWatched: isToBeWatched)
        }
        switch admission {
        case .rejected: commit.resume(with: .failure(Self.closed))
        case .enqueued(let isToBeWatched): if isToBeWatched { refuseLateCommits() }
        case .startsCommitter(let isToBeWatched):
            // The committer may be occupied by something else, such as commits of a primary.
            if isToBeWatched { refuseLateCommits() }
            committer.submit { committer in self.drain(committer) }
        }
    }

    /// Refuses the commits that wait too long, until none waits: also while the committer waits for a disk that does not answer.
    private func refuseLateCommits() {
        Self.lateQueue.asyncAfter(deadline: .now() + Self.lateInterval) { [weak self] in
            guard let self else { return }
            let (late, isWatched) = state.withLock { state in
                let late = state.removeLate()
                state.isWatched = state.hasCalls
                return (late, state.isWatched)
            }
            // Those whose calls have ended meanwhile are not refused.
            for commit in admitted(late) { submit(commit) }
            if isWatched { refuseLateCommits() }
        }
    }

    /// Processes the pending commits until there are none.
    private func drain(_ committer: isolated Committer) {
        let clock = ContinuousClock()
        while let next = dequeuePending(committer) {
            for work in next.work { work(committer) }
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

    /// The next step of the committer.
    private struct Step {
        let work: [Work]
        let small: [PendingCommit]
        let large: [PendingCommit]
    }

    /// Returns the pending work, the pending small commits, and large ones for a new batch; `nil` if the committer has nothing to do.
    private func dequeuePending(_ committer: isolated Committer) -> Step? {
        let hasLargeBatch = committer.hasLargeBatch
        return state.withLock { state in
            let (work, small) = (state.pendingWork, state.pending)
            (state.pendingWork, state.pending) = ([], [])
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
            if work.isEmpty, small.isEmpty, large.isEmpty, !hasLargeBatch {
                state.isRunning = false
                return nil
            }
            return Step(work: work, small: small, large: large)
        }
    }
}
