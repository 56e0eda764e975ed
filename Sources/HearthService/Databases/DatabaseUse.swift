import DocumentModel
import DocumentStore
import StrictJSON

/// A database beside the default one, for as long as somebody uses it: what keeps it from being closed.
///
/// While the database does not exist, it answers as an empty one does, and the first commit makes it.
final class DatabaseUse: Sendable {
    let database: Database
    private let databases: Databases

    /// Begins to use a database; to be done only where it can't be closed at the same time.
    init(_ database: Database, of databases: Databases) {
        self.database = database
        self.databases = databases
        database.beginUse()
    }

    deinit {
        database.endUse()
    }

    /// What answers: the store, or an empty one while there is none.
    private var store: any DocumentStore {
        get throws(StatusError) {
            switch database.content {
            case .nothing(let identity): return NothingStored(at: identity.position)
            case .store(let store): return store
            case .ended(_, let ending): throw ended(ending)
            }
        }
    }

    /// The store, which is made where there is none.
    private var madeStore: FileStore {
        get async throws(StatusError) {
            switch database.content {
            case .nothing: try await databases.make(database)
            case .store(let store): store
            case .ended(_, let ending): throw ended(ending)
            }
        }
    }

    private func ended(_ ending: Database.Ending) -> StatusError {
        let name = Excerpt(database.id.description)
        return switch ending {
        case .closed: StatusError(.unavailable, "The database \(name) was closed while the call was under way. Call again.")
        // Not to be tried again by a program that does not know of it: a write would make the database anew.
        case .deleted: StatusError(.notFound, "The database \(name) was deleted. The next write to it makes it anew, empty.")
        }
    }
}

extension DatabaseUse: DocumentStore {
    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try await store.document(at: path, readTime: readTime)
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentID?,
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
    ) async throws(StatusError) -> QueryAnswer {
        try await store.run(query, maximumBytes: maximumBytes, readTime: readTime)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationAnswer {
        try await store.aggregate(query, aggregations, readTime: readTime)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await store.size(of: collection)
    }

    func indexes() async -> IndexReport {
        await (try? store)?.indexes() ?? IndexReport()
    }

    func file(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        try await store.file(of: path)
    }

    func storage() async -> StorageReport? {
        await (try? store)?.storage()
    }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try await madeStore.changeIndexes(change)
    }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await store.history(of: path, before: before, limit: limit)
    }

    /// A commit without writes only makes sure that what was read still holds, and makes no database.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: UTF8Key?
    ) async throws(StatusError) -> CommitResult {
        guard writes.isEmpty else { return try await madeStore.commit(writes, validating: reads, by: author) }
        return try await store.commit(writes, validating: reads, by: author)
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { [self] position in
            guard case .store(let store) = database.content else { return [] }
            return store.commits(after: position).firstPartInMemory()
        } source: { [self] position throws(StatusError) in
            // Asked for only when there is a commit, or never will be one.
            if case .store(let store) = database.content {
                if let commits = try await store.commits(after: position).firstPart() { return commits }
            }
            if case .ended(_, .deleted) = database.content { throw ended(.deleted) }
            return nil
        }
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        database.notify(after: sequence, body)
    }

    var position: StorePosition { database.position }

    func settledPosition() async throws(StatusError) -> StorePosition {
        try await store.settledPosition()
    }

    var writeObstacle: StatusError? {
        get async { await (try? store)?.writeObstacle }
    }
}
