package import DocumentModel
package import DocumentStore
import Synchronization

/// A store whose known position and commit log lag behind its reads, as on one of several servers that share a database.
///
/// Reads, commits and ``safePosition()`` are those of the base.
package final class LaggingStore: ClosableStore {
    private struct State {
        /// The position that the commit log has reached.
        var known: StorePosition
        /// The last commit that is known to exist.
        var announced = SequenceNumber.zero
        var isClosed = false
        var waiters: [Int: (sequence: SequenceNumber, body: @Sendable () -> Void)] = [:]
        var waiterCount = 0
        /// The number of readers of the commit log that wait for the next commit.
        var pollingCount = 0
    }

    private let base: any ClosableStore
    private let state: Mutex<State>

    /// Creates a store that knows the commits up to now.
    package init(_ base: any ClosableStore) {
        self.base = base
        state = Mutex(State(known: base.position))
    }

    /// True while a reader or a notification waits for a commit that the store does not know.
    package var hasWaiters: Bool {
        state.withLock { !$0.waiters.isEmpty || $0.pollingCount > 0 }
    }

    /// Learns of all commits of the base.
    package func catchUp() {
        let waiters = state.withLock { state in
            state.known = base.position
            let due = state.waiters.filter { $0.value.sequence < state.known.lastSequence }
            for id in due.keys { state.waiters[id] = nil }
            return due.values.map(\.body)
        }
        for waiter in waiters { waiter() }
    }

    @discardableResult
    package func close() async -> StatusError? {
        let failure = await base.close()
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters.removeAll() }
            return state.waiters.values.map(\.body)
        }
        for waiter in waiters { waiter() }
        return failure
    }

    package var position: StorePosition {
        let (known, announced) = state.withLock { ($0.known, $0.announced) }
        return StorePosition(
            database: known.database,
            epoch: known.epoch,
            lastSequence: known.lastSequence,
            lastCommitTime: known.lastCommitTime,
            oldestRetained: known.oldestRetained,
            isBehind: announced > known.lastSequence
        )
    }

    package var restartCount: Int { 0 }

    package func safePosition() async throws(StatusError) -> StorePosition {
        let position = try await base.safePosition()
        state.withLock { $0.announced = max($0.announced, position.lastSequence) }
        return position
    }

    package func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { [self] start in
            knownCommits(base.commits(after: start).firstBatchInMemory())
        } source: { [self] start throws(StatusError) in
            guard start <= (try await base.safePosition()).lastSequence else {
                throw StatusError(.outOfRange, "Position \(start) is after the last commit.")
            }
            if position.lastSequence <= start {
                state.withLock { $0.pollingCount += 1 }
                defer { state.withLock { $0.pollingCount -= 1 } }
                while position.lastSequence <= start {
                    if state.withLock(\.isClosed) { return nil }
                    do { try await Task.sleep(for: .milliseconds(1)) } catch { return nil }
                }
            }
            return try await base.commits(after: start).firstBatch().map(knownCommits)
        }
    }

    private func knownCommits(_ commits: [Commit]) -> [Commit] {
        let last = position.lastSequence
        return commits.filter { $0.sequence <= last }
    }

    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed, state.known.lastSequence <= sequence else { return nil }
            state.waiterCount += 1
            state.waiters[state.waiterCount] = (sequence, body)
            return state.waiterCount
        }
        guard let id else {
            body()
            return CommitNotification {}
        }
        return CommitNotification { [self] in _ = state.withLock { $0.waiters.removeValue(forKey: id) } }
    }

    package func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try await base.document(at: path, readTime: readTime)
    }

    package func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try await base.documents(
            in: collection,
            after: after,
            limit: limit,
            includingMissing: includingMissing,
            readTime: readTime
        )
    }

    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        try await base.collections(under: parent, after: after, limit: limit, readTime: readTime)
    }

    package func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try await base.run(query, maximumBytes: maximumBytes, readTime: readTime)
    }

    package func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try await base.aggregate(query, aggregations, readTime: readTime)
    }

    package func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await base.size(of: collection)
    }

    package func indexes() async -> IndexReport { await base.indexes() }

    package func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try await base.changeIndexes(change)
    }

    package func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await base.history(of: path, before: before, limit: limit)
    }

    package func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        try await base.commit(writes, validating: reads, by: author, identity: identity)
    }

    package var writeBlockedReason: StatusError? {
        get async { await base.writeBlockedReason }
    }
}
