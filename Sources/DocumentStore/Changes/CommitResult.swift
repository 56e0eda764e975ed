package import DocumentModel

/// The result of a successful commit.
package struct CommitResult: Hashable, Sendable {
    /// The commit's sequence number; `nil` if no write changed anything, in which case the commit log has no entry.
    package let sequence: SequenceNumber?
    /// The time at which the writes were applied.
    package let commitTime: Timestamp
    /// The results of the writes, in order.
    package let writeResults: [WriteResult]

    /// Creates a result.
    package init(sequence: SequenceNumber?, commitTime: Timestamp, writeResults: [WriteResult]) {
        self.sequence = sequence
        self.commitTime = commitTime
        self.writeResults = writeResults
    }
}
