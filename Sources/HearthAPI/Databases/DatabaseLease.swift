import DocumentModel
import DocumentStore
import UTF8Text

/// A claim that keeps an additional database open, and its store.
///
/// A database that does not exist reads as empty, and the first commit creates it.
final class DatabaseLease: Sendable {
    let database: Database
    private let databases: DatabaseRegistry

    /// Creates a lease. Only the registry may call this, since it decides when to close databases.
    init(_ database: Database, of databases: DatabaseRegistry) {
        self.database = database
        self.databases = databases
        database.retain()
    }

    deinit {
        database.release()
    }

    /// The store, or an empty one while the database does not exist.
    private var store: any DocumentStore {
        get throws(StatusError) {
            switch database.state {
            case .absent(let identity): return EmptyStore(at: identity.position)
            case .open(let store): return store
            case .closed(_, let reason): throw closedError(reason)
            }
        }
    }

    /// The store, which is created if the database does not exist.
    private var storeCreatingIfNeeded: any ClosableStore {
        get async throws(StatusError) {
            switch database.state {
            case .absent: try await databases.create(database)
            case .open(let store): store
            case .closed(_, let reason): throw closedError(reason)
            }
        }
    }

    /// True if the database exists.
    var exists: Bool { database.store != nil }

    /// Creates the database if it does not exist.
    func createIfNeeded() async throws(StatusError) {
        _ = try await storeCreatingIfNeeded
    }

    private func closedError(_ reason: Database.CloseReason) -> StatusError {
        let name = Excerpt(database.id.description)
        return switch reason {
        case .evicted: StatusError(.unavailable, "The database \(name) was closed during the call. Try again.")
        // Not a code that clients retry: a retried write would recreate the database.
        case .deleted: StatusError(.notFound, "The database \(name) was deleted. The next write creates a new, empty one.")
        }
    }
}

extension DatabaseLease: DocumentStore {
    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try await store.document(at: path, readTime: readTime)
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try await store.documents(
            in: collection,
            after: after,
            limit: limit,
            includingMissing: includingMissing,
            readTime: readTime
        )
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        try await store.collections(under: parent, after: after, limit: limit, readTime: readTime)
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try await store.run(query, maximumBytes: maximumBytes, readTime: readTime)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try await store.aggregate(query, aggregations, readTime: readTime)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await store.size(of: collection)
    }

    func indexes() async -> IndexReport {
        await (try? store)?.indexes() ?? IndexReport()
    }

    var localFiles: (any LocalFiles)? {
        get throws(StatusError) { try store.localFiles }
    }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try await storeCreatingIfNeeded.changeIndexes(change)
    }

    func quota() async throws(StatusError) -> DatabaseQuota {
        try await store.quota()
    }

    func setQuota(_ quota: DatabaseQuota) async throws(StatusError) {
        try await storeCreatingIfNeeded.setQuota(quota)
    }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await store.history(of: path, before: before, limit: limit)
    }

    /// A commit without writes only validates reads and does not create the database.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        let store = writes.isEmpty ? try store : try await storeCreatingIfNeeded
        return try await store.commit(writes, validating: reads, by: author, identity: identity)
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { [self] position in
            guard case .open(let store) = database.state else { return [] }
            return store.commits(after: position).firstBatchInMemory()
        } source: { [self] position throws(StatusError) in
            // Called only when a commit exists or the database is closed.
            if case .open(let store) = database.state {
                if let commits = try await store.commits(after: position).firstBatch() { return commits }
            }
            if case .closed(_, .deleted) = database.state { throw closedError(.deleted) }
            return nil
        }
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        database.notify(after: sequence, body)
    }

    var position: StorePosition { database.position }

    var restartCount: Int { database.restartCount }

    func safePosition() async throws(StatusError) -> StorePosition {
        try await store.safePosition()
    }

    var writeBlockedReason: StatusError? {
        get async { await (try? store)?.writeBlockedReason }
    }
}
