package import DocumentModel
package import DocumentStore

/// An empty store that rejects writes.
package struct ReadOnlyEmptyStore: DocumentStore {
    package init() {}

    package func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        nil
    }

    package func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        DocumentPage(documents: [], next: nil, damaged: [])
    }

    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        CollectionPage(collections: [], next: nil)
    }

    package func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        QueryResults(documents: [], readTime: .minimum)
    }

    package func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        AggregationResults(results: AggregationState(aggregations).results, readTime: .minimum)
    }

    package func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize { .zero }

    package func indexes() async -> IndexReport { IndexReport() }

    package func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport { IndexReport() }

    package func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        VersionPage(versions: [], next: nil)
    }

    package func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        throw StatusError(.unavailable, "the store is read-only")
    }

    package func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence, memory: { _ in [] }, source: { _ throws(StatusError) in nil })
    }

    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        body()
        return CommitNotification {}
    }

    package var position: StorePosition {
        StorePosition(epoch: "", lastSequence: .zero, lastCommitTime: nil, oldestRetained: SequenceNumber(1))
    }

    package var restartCount: Int { 0 }

    package func safePosition() async throws(StatusError) -> StorePosition { position }

    package var writeBlockedReason: StatusError? {
        get async { StatusError(.unavailable, "the store is read-only") }
    }
}
