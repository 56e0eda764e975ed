package import DocumentModel

/// The result of a successful commit.
package struct CommitResult: Hashable, Sendable {
    /// The commit's sequence number; `nil` if no write changed anything. No watcher is told of such a commit.
    package let sequence: SequenceNumber?
    /// The time at which the writes were applied.
    package let commitTime: Timestamp
    /// The results of the writes, in order.
    package let writeResults: [WriteResult]
    /// True if ``writeResults`` is empty because the results were too large to be kept for a commit that was sent again.
    package let hasDroppedResults: Bool
    /// True if the commit had been made before, and was not applied again.
    package private(set) var isReplayed = false
    /// The epoch of the history that the times belong to; `nil` if the caller does not need it.
    package var epoch: String?

    /// Creates a result.
    package init(
        sequence: SequenceNumber?,
        commitTime: Timestamp,
        writeResults: [WriteResult],
        hasDroppedResults: Bool = false
    ) {
        self.sequence = sequence
        self.commitTime = commitTime
        self.writeResults = writeResults
        self.hasDroppedResults = hasDroppedResults
    }

    /// The result without the results of the writes, as if they were too large to be kept.
    package var withoutWriteResults: CommitResult {
        CommitResult(sequence: sequence, commitTime: commitTime, writeResults: [], hasDroppedResults: true)
    }

    /// The result as the answer to a commit that was sent again.
    package var replayed: CommitResult {
        var result = self
        result.isReplayed = true
        return result
    }
}
