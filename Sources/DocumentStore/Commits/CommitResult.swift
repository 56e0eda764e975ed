package import DocumentModel

/// What came of a commit.
package struct CommitResult: Hashable, Sendable {
    /// The commit's sequence number, or nil when none of its writes changed anything: then there is no commit to watch.
    package let sequence: SequenceNumber?
    /// The time at which the writes were applied.
    package let commitTime: Timestamp
    /// One result for each write, in order.
    package let writeResults: [WriteResult]

    /// Makes a result.
    package init(sequence: SequenceNumber?, commitTime: Timestamp, writeResults: [WriteResult]) {
        self.sequence = sequence
        self.commitTime = commitTime
        self.writeResults = writeResults
    }
}
