import DocumentModel
import DocumentStore
import StrictJSON

/// What there is in a database to which nothing was ever written.
struct NothingStored: DocumentStore {
    let position: StorePosition

    init(at position: StorePosition) {
        self.position = position
    }

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try check(readTime)
        return nil
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try check(readTime)
        return DocumentPage(documents: [], next: nil, damaged: [])
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        try check(readTime)
        return CollectionPage(collections: [], next: nil)
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryAnswer {
        try check(readTime)
        return QueryAnswer(documents: [], readTime: readTime ?? .minimum)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationAnswer {
        try check(readTime)
        return AggregationAnswer(results: AggregationState(aggregations).results, readTime: readTime ?? .minimum)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize { .zero }

    func indexes() async -> IndexReport { IndexReport() }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport { throw Self.notMade }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        VersionPage(versions: [], next: nil)
    }

    /// Nothing that was read can have changed.
    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: UTF8Key?
    ) async throws(StatusError) -> CommitResult {
        guard writes.isEmpty else { throw Self.notMade }
        return CommitResult(sequence: nil, commitTime: .current(), writeResults: [])
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence, memory: { _ in [] }, source: { _ throws(StatusError) in nil })
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        CommitNotification {}
    }

    func settledPosition() async throws(StatusError) -> StorePosition { position }

    var writeObstacle: StatusError? {
        get async { nil }
    }

    private static let notMade = StatusError(.internal, "Something was to be changed in a database that was not made before.")

    private func check(_ readTime: Timestamp?) throws(StatusError) {
        guard let readTime, readTime > .current() else { return }
        throw StatusError.readTimeYetToCome(readTime)
    }
}
