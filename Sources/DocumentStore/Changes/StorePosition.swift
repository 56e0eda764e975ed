package import DocumentModel

/// A position in a store's commit log.
package struct StorePosition: Hashable, Sendable {
    /// The database; `nil` for the server's default database.
    package let database: DatabaseID?
    /// The identity of the history: 32 hexadecimal digits, new when a database is created, or when a restore may have lost
    /// commits. Sequence numbers of different epochs are not comparable.
    package let epoch: String
    /// The last durable and visible commit.
    package let lastSequence: SequenceNumber
    /// That commit's time; `nil` before the first commit.
    package let lastCommitTime: Timestamp?
    /// The oldest retained commit; the number after ``lastSequence`` when none is retained.
    package let oldestRetained: SequenceNumber
    /// The epochs from which the history has branched off, oldest first.
    package let lineage: [AncestorEpoch]
    /// True on a standby, whose primary may have later commits.
    package let isReplicated: Bool

    /// Creates a position.
    package init(
        database: DatabaseID? = nil,
        epoch: String,
        lastSequence: SequenceNumber,
        lastCommitTime: Timestamp?,
        oldestRetained: SequenceNumber,
        lineage: [AncestorEpoch] = [],
        isReplicated: Bool = false
    ) {
        self.database = database
        self.epoch = epoch
        self.lastSequence = lastSequence
        self.lastCommitTime = lastCommitTime
        self.oldestRetained = oldestRetained
        self.lineage = lineage
        self.isReplicated = isReplicated
    }

    /// Returns whether all commits after `sequence` are retained and `sequence` is not in the future.
    package func canResume(after sequence: SequenceNumber) -> Bool {
        sequence <= lastSequence && oldestRetained <= sequence.next
    }
}
