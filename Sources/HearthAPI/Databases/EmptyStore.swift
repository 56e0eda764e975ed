import DocumentModel
import DocumentStore
import UTF8Text

/// The read-only store of a database that does not exist yet.
struct EmptyStore: DocumentStore {
    let position: StorePosition

    init(at position: StorePosition) {
        self.position = position
    }

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try await validate(readTime)
        return nil
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try await validate(readTime)
        return DocumentPage(documents: [], next: nil, damaged: [])
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        try await validate(readTime)
        return CollectionPage(collections: [], next: nil)
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try await validate(readTime)
        return QueryResults(documents: [], readTime: readTime ?? .minimum)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try await validate(readTime)
        return AggregationResults(results: AggregationState(aggregations).results, readTime: readTime ?? .minimum)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize { .zero }

    func indexes() async -> IndexReport { IndexReport() }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport { throw Self.notCreated }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        VersionPage(versions: [], next: nil)
    }

    /// Accepts only commits without writes: reads of an empty store are always valid.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        guard writes.isEmpty else { throw Self.notCreated }
        return CommitResult(sequence: nil, commitTime: .current(), writeResults: [])
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence, memory: { _ in [] }, source: { _ throws(StatusError) in nil })
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        CommitNotification {}
    }

    var restartCount: Int { position.restartCount }

    func safePosition() async throws(StatusError) -> StorePosition { position }

    var writeBlockedReason: StatusError? {
        get async { nil }
    }

    private static let notCreated = StatusError(.internal, "A write was sent to a database that does not exist.")

    private func validate(_ readTime: Timestamp?) async throws(StatusError) {
        guard let readTime, try await isInFuture(readTime) else { return }
        throw StatusError.readTimeInFuture(readTime)
    }
}
