package import DocumentModel

/// The identity by which the server knows the batches of a queue, so that it commits each once, however often it is sent.
package struct QueueIdentity: Hashable, Sendable {
    /// The ID of the client at the server.
    package let client: CommitClientID
    /// The number of the last batch that was queued under an earlier identity; 0 for the first one.
    package let precedingNumber: BatchNumber

    /// Creates an identity from its parts, as a cache stored them.
    package init(client: CommitClientID, precedingNumber: BatchNumber) {
        self.client = client
        self.precedingNumber = precedingNumber
    }

    /// Creates a new identity for the batches after a number.
    package init(after precedingNumber: BatchNumber = 0) {
        self.init(client: .random(), precedingNumber: precedingNumber)
    }
}

/// The identity of a batch's commit.
package struct BatchIdentity: Hashable, Sendable {
    /// The ID of the client at the server.
    package let client: CommitClientID
    /// The number of the commit among those of the client, from 1.
    package let number: UInt64
    /// The highest number up to which all answers have been processed.
    package let after: UInt64

    /// Creates the identity of a batch.
    init(_ number: BatchNumber, in queue: QueueIdentity, decided: BatchNumber) {
        client = queue.client
        self.number = number - queue.precedingNumber
        after = decided > queue.precedingNumber ? decided - queue.precedingNumber : 0
    }
}
