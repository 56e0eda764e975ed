import DocumentModel
import DocumentStore

/// A store with nothing in it that takes no writes.
struct EmptyStore: DocumentStore {
    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        nil
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        DocumentPage(documents: [], next: nil, damaged: [])
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        CollectionPage(collections: [], next: nil)
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryAnswer {
        QueryAnswer(documents: [], readTime: .minimum)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationAnswer {
        AggregationAnswer(results: AggregationState(aggregations).results, readTime: .minimum)
    }

    func indexes() async -> IndexReport { IndexReport() }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport { IndexReport() }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        VersionPage(versions: [], next: nil)
    }

    func commit(_ writes: [Write], validating reads: ReadSet) async throws(StatusError) -> CommitResult {
        throw StatusError(.unavailable, "nothing can be written")
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { _ throws(StatusError) in nil }
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        body()
        return CommitNotification {}
    }

    var position: StorePosition {
        StorePosition(epoch: "", lastSequence: .zero, lastCommitTime: nil, oldestKept: SequenceNumber(1))
    }

    func settledPosition() async throws(StatusError) -> StorePosition { position }

    var writeObstacle: StatusError? {
        get async { StatusError(.unavailable, "nothing can be written") }
    }
}
