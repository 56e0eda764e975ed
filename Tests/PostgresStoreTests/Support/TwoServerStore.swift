import DocumentModel
import DocumentStore

/// A database that one server writes, and another one reads.
final class TwoServerStore: ClosableStore {
    private let writer: any ClosableStore
    private let reader: any ClosableStore

    init(writer: any ClosableStore, reader: any ClosableStore) {
        self.writer = writer
        self.reader = reader
    }

    @discardableResult
    func close() async -> StatusError? {
        let failures = (await writer.close(), await reader.close())
        return failures.0 ?? failures.1
    }

    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        try await writer.commit(writes, validating: reads, by: author, identity: identity)
    }

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try await reader.document(at: path, readTime: readTime)
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try await reader.documents(
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
        try await reader.collections(under: parent, after: after, limit: limit, readTime: readTime)
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try await reader.run(query, maximumBytes: maximumBytes, readTime: readTime)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try await reader.aggregate(query, aggregations, readTime: readTime)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await reader.size(of: collection)
    }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await reader.history(of: path, before: before, limit: limit)
    }

    func indexes() async -> IndexReport { await reader.indexes() }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try await writer.changeIndexes(change)
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence { reader.commits(after: sequence) }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        reader.notify(after: sequence, body)
    }

    var position: StorePosition { reader.position }

    var restartCount: Int { reader.restartCount }

    func safePosition() async throws(StatusError) -> StorePosition { try await reader.safePosition() }

    var writeBlockedReason: StatusError? {
        get async { await writer.writeBlockedReason }
    }
}
