internal import Concurrency
internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The queue of the commits of one database on this server. Those that arrive while a transaction runs form the next one (group commit).
///
/// While other servers commit a lot, a transaction waits for the lock of the database. Those that arrive meanwhile join it, so that
/// groups, and with them the work of the engine for a commit, are the same for many servers as for one. Then commits are also forwarded to
/// the server that has the lease of the database, if it can be reached, so that they do not wait for the turns of all servers
/// (``ForwardingPolicy``, ``CommitForwarder``).
final class CommitQueue: Sendable {
    private struct PendingCommit: Sendable {
        var commit: QueuedCommit
        /// The number of restarts of the log that it has read, by which the log of a lost history is told from the one that replaced it.
        let restartCount: Int
        /// The call of the commit; `nil` for one that is not refused, however long it has waited.
        let admission: CallAdmission?
        let waiting = Stopwatch()
        /// Receives the result, once.
        let complete: @Sendable (Result<CommitResult, StatusError>) -> Void

        var request: CommitRequest { commit.request }

        /// True if no other server can make the commit.
        var isOwn: Bool { !ForwardedBatch.canForward(commit) }
    }

    /// The outcomes of commits that another server has forwarded.
    private final class ForwardedOutcomes: Sendable {
        private let state: Mutex<(outcomes: [ForwardedAnswer.Outcome?], rest: Int)>
        private let continuation: CheckedContinuation<[ForwardedAnswer.Outcome], Never>

        init(count: Int, _ continuation: CheckedContinuation<[ForwardedAnswer.Outcome], Never>) {
            state = Mutex((Array(repeating: nil, count: count), count))
            self.continuation = continuation
        }

        func record(_ result: Result<CommitResult, StatusError>, of index: Int) {
            let outcomes = state.withLock { state -> [ForwardedAnswer.Outcome]? in
                state.outcomes[index] = ForwardedAnswer.Outcome(result)
                state.rest -= 1
                return state.rest == 0 ? state.outcomes.compactMap(\.self) : nil
            }
            if let outcomes { continuation.resume(returning: outcomes) }
        }
    }

    /// The commits that have joined a transaction.
    private final class JoinedCommits: Sendable {
        private let commits = Mutex<[PendingCommit]>([])

        var all: [PendingCommit] { commits.withLock { $0 } }

        func add(_ added: [PendingCommit]) { commits.withLock { $0 += added } }
    }

    private struct State {
        var pending: [PendingCommit] = []
        /// True while a task makes commits, and starts others that forward them.
        var isMaking = false
        /// The number of tasks that forward commits.
        var forwardCount = 0
        var forwarding: ForwardingPolicy
        var isClosed = false
        /// Callers of ``close()`` that wait for the last commit.
        var closers = Waiters()

        /// The number of batches that are forwarded at a time, so that commits need not wait for an answer before they are sent.
        private static let maximumForwardCount = 2

        /// True if no task makes or forwards commits.
        var isIdle: Bool { !isMaking && forwardCount == 0 }

        /// Returns whether commits that can be forwarded to a server wait for an answer first.
        func areForwardsFull(to holder: LeaseKeeper.Holder?) -> Bool {
            guard forwardCount >= Self.maximumForwardCount, let holder else { return false }
            return forwarding.mayForward(to: holder.address)
        }

        /// Removes and returns the commits to make or forward now.
        mutating func takePending(forwardingTo holder: LeaseKeeper.Holder?) -> [PendingCommit] {
            let isFull = areForwardsFull(to: holder)
            let commits = isFull ? pending.filter(\.isOwn) : pending
            if isFull { pending.removeAll(where: \.isOwn) } else { pending = [] }
            return commits
        }
    }

    private let state: Mutex<State>
    private let database: Int64
    private let engine: Engine
    private let log: CommitLog
    private let fields: FieldIDs
    private let tokenPrefix: [UInt8]
    private let forwarder: CommitForwarder

    /// - Parameter tokenPrefix: The beginning of the tokens of its transactions, by which its commits are told from others.
    init(_ database: Int64, _ engine: Engine, _ log: CommitLog, _ fields: FieldIDs, tokenPrefix: [UInt8] = []) {
        self.database = database
        self.engine = engine
        self.log = log
        self.fields = fields
        self.tokenPrefix = tokenPrefix
        forwarder = CommitForwarder(database, engine)
        state = Mutex(State(forwarding: ForwardingPolicy(isForced: engine.configuration.forwardsAlways)))
    }

    /// Enqueues a commit and waits until it is durable and visible. Cancelling the task does not withdraw it.
    func commit(_ request: CommitRequest) async throws(StatusError) -> CommitResult {
        let restartCount = request.reads.restartCount ?? log.feed.restartCount
        do {
            return try await withCheckedThrowingContinuation { continuation in
                submit([
                    PendingCommit(
                        commit: QueuedCommit(request: request, readAnchor: log.anchor(of: request.reads)),
                        restartCount: restartCount,
                        admission: CallAdmission.current
                    ) { continuation.resume(with: $0.mapError { $0 as any Error }) }
                ])
            }
        } catch {
            throw error as? StatusError ?? StatusError(.internal, "\(error)")
        }
    }

    /// Makes commits that another server has forwarded, and returns their outcomes.
    func commit(_ batch: ForwardedBatch) async -> [ForwardedAnswer.Outcome] {
        let restartCount = log.feed.restartCount
        return await withCheckedContinuation { continuation in
            let outcomes = ForwardedOutcomes(count: batch.requests.count, continuation)
            submit(
                batch.commits.enumerated().map { index, commit in
                    PendingCommit(commit: commit, restartCount: restartCount, admission: nil) { outcomes.record($0, of: index) }
                }
            )
        }
    }

    /// Rejects new commits, and waits for the accepted ones.
    func close() async {
        let waiter = state.withLock { state in
            state.isClosed = true
            return state.isIdle ? nil : state.closers.add()
        }
        await waiter?.wait()
    }

    private func submit(_ commits: [PendingCommit]) {
        let holder = forwarder.holder
        let (isClosed, starts) = state.withLock { state -> (Bool, Bool) in
            if state.isClosed { return (true, false) }
            state.pending += commits
            guard !state.isMaking, !state.areForwardsFull(to: holder) || commits.contains(where: \.isOwn) else {
                return (false, false)
            }
            state.isMaking = true
            return (false, true)
        }
        if isClosed {
            for commit in commits {
                let error = StatusError(.unavailable, "The database is closing and no longer accepts writes.")
                commit.complete(.failure(commit.commit.origin == nil ? error : ForwardedCommitNotMade.lease))
            }
            return
        }
        // It ends with the last commit, whose callers wait for it.
        if starts { Task.detached { await self.drain() } }
    }

    private func drain() async {
        while let commits = dequeue() {
            var own = startForwarding(admitted(commits))
            while !own.isEmpty { await process(&own) }
        }
    }

    private func dequeue() -> [PendingCommit]? {
        let holder = forwarder.holder
        let (pending, closers) = state.withLock { state -> ([PendingCommit]?, [Waiter]) in
            let commits = state.takePending(forwardingTo: holder)
            if !commits.isEmpty { return (commits, []) }
            state.isMaking = false
            return (nil, state.isIdle ? state.closers.removeAll() : [])
        }
        for closer in closers { closer.resume() }
        return pending
    }

    /// Returns the commits to process, those of transactions first. Refuses those that have waited too long.
    private func admitted(_ commits: [PendingCommit]) -> [PendingCommit] {
        var (transactions, others): ([PendingCommit], [PendingCommit]) = ([], [])
        for commit in commits {
            engine.configuration.observer?.didWait(in: .commit, nanoseconds: commit.waiting.nanoseconds)
            if let refusal = commit.admission?.begin(after: commit.waiting) {
                commit.complete(.failure(StatusError(refusing: refusal)))
            } else if commit.request.reads.count > 0 {
                transactions.append(commit)
            } else {
                others.append(commit)
            }
        }
        return transactions + others
    }

    /// Processes the first commits in one transaction, together with those that join it, and removes them.
    ///
    /// - Parameter limit: The maximum number of commits.
    private func process(_ commits: inout [PendingCommit], limit: Int = .max) async {
        let known = log.feed.position
        commits = unlost(commits, known.restartCount)
        guard !commits.isEmpty else { return }
        let joined = JoinedCommits()
        let joins = limit >= commits.count && state.withLock(\.forwarding.isLockContended)
        do throws(StatusError) {
            let outcome = try await transact(commits.prefix(limit).map(\.commit), joined, known, joins: joins)
            commits += joined.all
            state.withLock { $0.forwarding.didLock(after: outcome.lockDelay) }
            await log.didCommit(outcome)
            if let sync = outcome.sync, !outcome.commits.isEmpty {
                engine.configuration.observer?.didSync(
                    commitCount: outcome.commits.count,
                    duration: sync.upperBound - sync.lowerBound
                )
            }
            for (commit, result) in zip(commits, outcome.outcomes) { commit.complete(result) }
            commits.removeFirst(outcome.outcomes.count)
        } catch {
            commits += joined.all
            if error.cause is HistoryLoss { await log.catchUp() }
            let count = min(limit, commits.count)
            // One commit may fail all others, for example because it is too large. Without the engine, all of them fail.
            let failsAll = error.engineError?.isConnectionLost == true || error.isOutcomeUnknown
            if !failsAll, count > 1 { return await process(&commits, limit: count / 2) }
            for commit in commits.prefix(count) { commit.complete(.failure(error)) }
            commits.removeFirst(count)
        }
    }

    /// Refuses the transactions that have read the log before it was replaced: its numbers are not those of the scopes now. Returns the
    /// other commits.
    private func unlost(_ commits: [PendingCommit], _ restartCount: Int) -> [PendingCommit] {
        commits.filter { commit in
            guard commit.restartCount != restartCount, !commit.request.reads.scopes.isEmpty else { return true }
            commit.complete(.failure(HistoryLoss.abortedTransaction))
            return false
        }
    }

    /// Takes the commits that have arrived, except those that have read another log than the transaction knows.
    private func join(_ joined: JoinedCommits, _ restartCount: Int) -> [QueuedCommit] {
        let pending = state.withLock { state in
            let joining = state.pending.filter { $0.restartCount == restartCount }
            state.pending.removeAll { $0.restartCount == restartCount }
            return joining
        }
        let commits = admitted(pending)
        joined.add(commits)
        return commits.map(\.commit)
    }

    /// Runs a transaction, again after a conflict or a lost connection.
    ///
    /// - Parameters:
    ///   - joined: The commits that have joined it.
    ///   - known: The last commit that this server knows.
    ///   - joins: True to let commits join.
    /// - Throws: The last error; no commit was made, unless it says that the outcome is unknown.
    private func transact(
        _ commits: [QueuedCommit],
        _ joined: JoinedCommits,
        _ known: StorePosition,
        joins: Bool
    ) async throws(StatusError) -> CommitTransaction.Outcome {
        let deadline = ContinuousClock.now + engine.configuration.timeout
        var attempt = 0
        while true {
            attempt += 1
            let transaction = CommitTransaction(
                database: database,
                commits: commits + joined.all.map(\.commit),
                fields: fields,
                token: tokenPrefix + RandomBytes.make(16),
                known: known,
                configuration: engine.configuration
            )
            do throws(StatusError) {
                return try await engine.writes.write { connection throws(StatusError) in
                    try transaction.run(connection, joining: joins ? { self.join(joined, known.restartCount) } : nil)
                }
            } catch {
                var isRepeatable = error.engineError.map { $0.isConflict || $0.isConnectionLost } ?? false
                if let unknown = error.cause as? CommitTransaction.UnknownOutcome {
                    let wasCommitted = try await engine.resolve { [database] connection throws(StatusError) in
                        try CommitTransaction.wasCommitted(unknown.outcome, database, connection)
                    }
                    if wasCommitted { return unknown.outcome }
                    isRepeatable = true
                }
                guard isRepeatable, attempt < Self.maximumAttempts, ContinuousClock.now < deadline else { throw error }
                engine.log.retryCount.add(1, ordering: .relaxed)
                await RetryPause.wait(after: attempt)
            }
        }
    }

    /// The number of times that a transaction is tried.
    private static let maximumAttempts = 8
}

// MARK: - Forwarding

extension CommitQueue {
    /// Begins to forward commits if they should be, and returns those that this server has to make meanwhile: another server may wait for
    /// them before it answers.
    private func startForwarding(_ commits: [PendingCommit]) -> [PendingCommit] {
        guard let holder = forwarder.holder, state.withLock({ $0.forwarding.forwards(to: holder.address) }) else {
            return commits
        }
        let known = log.feed.position
        var (own, batch, byteCount, writeCount) = ([PendingCommit](), [(commit: PendingCommit, json: [UInt8])](), 0, 0)
        for commit in unlost(commits, known.restartCount) {
            let json = commit.isOwn ? nil : ForwardedBatch.encoded(commit.request)
            guard let json, byteCount + json.count <= ForwardedBatch.maximumBytes,
                writeCount + commit.request.writes.count <= CommitBatch.maximumWrites
            else {
                own.append(commit)
                continue
            }
            batch.append((commit, json))
            byteCount += json.count
            writeCount += commit.request.writes.count
        }
        guard !batch.isEmpty else { return own }
        state.withLock { $0.forwardCount += 1 }
        Task.detached { [batch] in await self.forward(batch, to: holder, knowing: known) }
        return own
    }

    /// Forwards commits, and makes those that the other server has not made.
    private func forward(
        _ batch: [(commit: PendingCommit, json: [UInt8])],
        to holder: LeaseKeeper.Holder,
        knowing known: StorePosition
    ) async {
        let outcome = await forwarder.forward(batch.map { ($0.commit.request, $0.json) }, to: holder, knowing: known)
        let configuration = engine.configuration
        state.withLock { state in
            switch outcome.failure {
            case .noAnswer: state.forwarding.didFail(at: holder.address, pause: configuration.forwardPause)
            case .otherLease:
                let pause = min(configuration.leaseRenewalInterval, configuration.forwardPause)
                state.forwarding.didAnswer(at: holder.address, pause: pause)
            case nil: state.forwarding.didAnswer(at: holder.address, pause: nil)
            }
        }
        let last = outcome.results.compactMap { try? $0?.get().sequence }.max()
        if let last { log.willFollow(through: last) }
        var rest: [PendingCommit] = []
        for (index, result) in outcome.results.enumerated() {
            var commit = batch[index].commit
            if let result {
                commit.complete(result)
            } else {
                commit.commit.forwardedToken = outcome.batch.token(of: index)
                rest.append(commit)
            }
        }
        while !rest.isEmpty { await process(&rest) }
        await endForwarding()
    }

    /// Ends a task that forwards; begins to make or forward the commits that have waited for it.
    private func endForwarding() async {
        let (starts, closers) = state.withLock { state -> (Bool, [Waiter]) in
            state.forwardCount -= 1
            guard !state.isMaking, !state.pending.isEmpty else { return (false, state.isIdle ? state.closers.removeAll() : []) }
            state.isMaking = true
            return (true, [])
        }
        for closer in closers { closer.resume() }
        if starts { await drain() }
    }
}
