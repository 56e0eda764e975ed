internal import Concurrency
internal import DocumentModel
internal import DocumentStore
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The queue of the commits of one database on this server. Those that arrive while a transaction runs form the next one (group commit).
final class CommitQueue: Sendable {
    private struct PendingCommit: Sendable {
        let request: CommitRequest
        let continuation: CheckedContinuation<CommitResult, any Error>
        /// The call of the commit; `nil` for one that is not refused, however long it has waited.
        let admission = CallAdmission.current
        let waiting = Stopwatch()
    }

    private struct State {
        var pending: [PendingCommit] = []
        var isRunning = false
        var isClosed = false
        /// Callers of ``close()`` that wait for the last commit.
        var closers = Waiters()
        /// The receipts of the clients whose commits this server has decided.
        var receipts = CommitReceipts()
    }

    private let state = Mutex(State())
    private let database: Int64
    private let engine: Engine
    private let log: CommitLog

    init(_ database: Int64, _ engine: Engine, _ log: CommitLog) {
        self.database = database
        self.engine = engine
        self.log = log
    }

    /// Enqueues a commit and waits until it is durable and visible. Cancelling the task does not withdraw it.
    func commit(_ request: CommitRequest) async throws(StatusError) -> CommitResult {
        do {
            return try await withCheckedThrowingContinuation { continuation in
                submit(PendingCommit(request: request, continuation: continuation))
            }
        } catch {
            throw error as? StatusError ?? StatusError(.internal, "\(error)")
        }
    }

    /// Rejects new commits, and waits for the accepted ones.
    func close() async {
        let waiter = state.withLock { state in
            state.isClosed = true
            return state.isRunning ? state.closers.add() : nil
        }
        await waiter?.wait()
    }

    private func submit(_ commit: PendingCommit) {
        let (isClosed, starts) = state.withLock { state -> (Bool, Bool) in
            if state.isClosed { return (true, false) }
            state.pending.append(commit)
            defer { state.isRunning = true }
            return (false, !state.isRunning)
        }
        if isClosed {
            let error = StatusError(.unavailable, "The database is closing and no longer accepts writes.")
            return commit.continuation.resume(throwing: error)
        }
        // It ends with the last commit, whose callers wait for it.
        if starts { Task.detached { await self.drain() } }
    }

    private func drain() async {
        while let commits = dequeue() {
            var rest = admitted(commits)[...]
            while !rest.isEmpty { rest = rest.dropFirst(await process(rest)) }
        }
    }

    private func dequeue() -> [PendingCommit]? {
        let (pending, closers) = state.withLock { state -> ([PendingCommit]?, [Waiter]) in
            guard state.pending.isEmpty else {
                defer { state.pending = [] }
                return (state.pending, [])
            }
            state.isRunning = false
            return (nil, state.closers.removeAll())
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
                commit.continuation.resume(throwing: StatusError(refusing: refusal))
            } else if commit.request.reads.count > 0 {
                transactions.append(commit)
            } else {
                others.append(commit)
            }
        }
        return transactions + others
    }

    /// Processes the first commits in one transaction, and returns their number.
    private func process(_ commits: ArraySlice<PendingCommit>) async -> Int {
        do throws(StatusError) {
            let outcome = try await transact(commits.map(\.request))
            await log.didCommit(outcome)
            state.withLock { state in
                for (client, receipts) in outcome.receipts { state.receipts.update(client, receipts) }
            }
            if let sync = outcome.sync {
                engine.configuration.observer?.didSync(
                    commitCount: outcome.commits.count,
                    duration: sync.upperBound - sync.lowerBound
                )
            }
            for (commit, result) in zip(commits, outcome.outcomes) { commit.continuation.resume(with: result.mapError { $0 }) }
            return outcome.outcomes.count
        } catch {
            // One commit may fail all others, for example because it is too large. Without the engine, all of them fail.
            let count = error.engineError?.isConnectionLost == true || error.isOutcomeUnknown ? commits.count : 1
            if count < commits.count, commits.count > 1 { return await process(commits.prefix(1)) }
            for commit in commits { commit.continuation.resume(throwing: error) }
            return commits.count
        }
    }

    /// Runs a transaction, again after a conflict or a lost connection.
    ///
    /// - Throws: The last error; no commit was made, unless it says that the outcome is unknown.
    private func transact(_ requests: [CommitRequest]) async throws(StatusError) -> CommitTransaction.Outcome {
        let deadline = ContinuousClock.now + engine.configuration.timeout
        var attempt = 0
        while true {
            attempt += 1
            let receipts = state.withLock { state in
                let clients = Set(requests.compactMap { $0.identity?.client })
                return clients.reduce(into: [:]) { known, client in known[client] = state.receipts[client] }
            }
            let transaction = CommitTransaction(
                database: database,
                requests: requests,
                receipts: receipts,
                token: RandomBytes.make(16),
                notifies: engine.configuration.usesNotifications
            )
            do throws(StatusError) {
                return try await engine.writes.write { connection throws(StatusError) in try transaction.run(connection) }
            } catch {
                var isRepeatable = error.engineError.map { $0.isConflict || $0.isConnectionLost } ?? false
                if let unknown = error.cause as? CommitTransaction.UnknownOutcome {
                    if try await wasCommitted(unknown.outcome, transaction.token) { return unknown.outcome }
                    isRepeatable = true
                }
                guard isRepeatable, attempt < Self.maximumAttempts, ContinuousClock.now < deadline else { throw error }
                await Self.pause(after: attempt)
            }
        }
    }

    /// Finds out whether a transaction whose answer was lost has made its commits.
    ///
    /// - Throws: An error that says that the outcome is unknown, when the engine cannot be reached in time.
    private func wasCommitted(
        _ outcome: CommitTransaction.Outcome,
        _ token: [UInt8]
    ) async throws(StatusError) -> Bool {
        let deadline = ContinuousClock.now + engine.configuration.timeout
        var attempt = 0
        while true {
            attempt += 1
            do throws(StatusError) {
                return try await engine.writes.write { [database] connection throws(StatusError) in
                    try CommitTransaction.wasCommitted(outcome, token: token, database, connection)
                }
            } catch {
                guard ContinuousClock.now < deadline else {
                    var unknown = StatusError(
                        .unavailable,
                        "The connection to the database engine was lost during the commit, whose outcome is unknown. Read the documents "
                            + "to see whether it was applied.",
                        cause: error.cause
                    )
                    unknown.isOutcomeUnknown = true
                    throw unknown
                }
                await Self.pause(after: attempt)
            }
        }
    }

    /// The number of times that a transaction is tried.
    private static let maximumAttempts = 8

    /// Waits for a random time that grows with the number of attempts, so that servers that collided do not collide again.
    private static func pause(after attempt: Int) async {
        let milliseconds = Double(1 << min(attempt, 7))
        // Not cancelled with a caller: the commits of others wait, too.
        let pause = Duration.milliseconds(.random(in: milliseconds...(2 * milliseconds)))
        await Task.detached { try? await Task.sleep(for: pause) }.value
    }
}
