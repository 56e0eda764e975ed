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
    /// The number of times that the log was found to be another one while the store was open, since an engine lost commits or was
    /// restored. A stream that has begun before has to begin anew. An engine that was only away has the same log, and does not count.
    package let restartCount: Int
    /// True if later commits are known to exist, whose documents reads may return: the store has announced them, as
    /// ``DocumentStore/safePosition()`` does, and has not published them yet.
    package let isBehind: Bool

    /// Creates a position.
    package init(
        database: DatabaseID? = nil,
        epoch: String,
        lastSequence: SequenceNumber,
        lastCommitTime: Timestamp?,
        oldestRetained: SequenceNumber,
        lineage: [AncestorEpoch] = [],
        isReplicated: Bool = false,
        restartCount: Int = 0,
        isBehind: Bool = false
    ) {
        self.database = database
        self.epoch = epoch
        self.lastSequence = lastSequence
        self.lastCommitTime = lastCommitTime
        self.oldestRetained = oldestRetained
        self.lineage = lineage
        self.isReplicated = isReplicated
        self.restartCount = restartCount
        self.isBehind = isBehind
    }

    /// Returns whether all commits after `sequence` are retained and `sequence` is not in the future.
    package func canResume(after sequence: SequenceNumber) -> Bool {
        sequence <= lastSequence && oldestRetained <= sequence.next
    }
}
