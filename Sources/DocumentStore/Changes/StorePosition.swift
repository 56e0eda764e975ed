package import DocumentModel

/// Where a store's log of commits stands.
package struct StorePosition: Hashable, Sendable {
    /// Which database it is; nil for a server's default one.
    package let database: DatabaseID?
    /// Names this history: 32 hexadecimal digits, new when a database is created, or restored in a way that forgets commits.
    /// Sequence numbers of different epochs don't compare.
    package let epoch: String
    /// The last commit that is durable and visible.
    package let lastSequence: SequenceNumber
    /// That commit's time, or nil before the first commit.
    package let lastCommitTime: Timestamp?
    /// The oldest commit that can still be read; the one after ``lastSequence`` when none is kept.
    package let oldestKept: SequenceNumber

    /// Makes a position.
    package init(
        database: DatabaseID? = nil,
        epoch: String,
        lastSequence: SequenceNumber,
        lastCommitTime: Timestamp?,
        oldestKept: SequenceNumber
    ) {
        self.database = database
        self.epoch = epoch
        self.lastSequence = lastSequence
        self.lastCommitTime = lastCommitTime
        self.oldestKept = oldestKept
    }

    /// Whether all commits after `sequence` can be read: none is forgotten, and `sequence` is not in the future.
    package func canResume(after sequence: SequenceNumber) -> Bool {
        sequence <= lastSequence && oldestKept <= sequence.next
    }
}
