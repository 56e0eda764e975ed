import DocumentModel
import DocumentStore

/// A store with nothing in it that takes no writes.
struct EmptyStore: DocumentStore {
    func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        nil
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool
    ) async throws(StatusError) -> DocumentPage {
        DocumentPage(documents: [], next: nil, damaged: [])
    }

    func collections(under parent: DocumentPath?, after: CollectionID?, limit: Int) async throws(StatusError) -> CollectionPage {
        CollectionPage(collections: [], next: nil)
    }

    func commit(_ writes: [Write]) async throws(StatusError) -> CommitResult {
        throw StatusError(.unavailable, "nothing can be written")
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { _ throws(StatusError) in nil }
    }

    var position: StorePosition {
        StorePosition(epoch: "", lastSequence: .zero, lastCommitTime: nil, oldestKept: SequenceNumber(1))
    }

    func settledPosition() async throws(StatusError) -> StorePosition { position }

    var writeObstacle: StatusError? {
        get async { StatusError(.unavailable, "nothing can be written") }
    }
}
