import DocumentModel
import DocumentStore

/// The state of the database that the reads of a transaction show: it has every commit that anybody may have seen when it was
/// taken.
struct Snapshot: Hashable, Sendable {
    /// The time to read at.
    let time: Timestamp
    /// The last commit in it.
    let sequence: SequenceNumber

    /// Takes the state as it is now.
    init(of store: any DocumentStore) async throws(StatusError) {
        let position = try await store.settledPosition()
        time = position.lastCommitTime ?? .minimum
        sequence = position.lastSequence
    }
}
