package import DocumentModel
package import DocumentStore

/// The moment to which a backup is restored.
package enum RestoreTarget: Hashable, Sendable {
    /// The last commit of each database in the backup.
    case backup
    /// The last commit of each database up to a time.
    case time(Timestamp)
    /// A commit of one database; `nil` is the default one. The others are restored as they are in the backup.
    case commit(SequenceNumber, of: DatabaseID?)

    /// Returns the commits that a database gets in addition to those of the backup; `nil` for none.
    func limit(of database: Backup.Database) -> Limit? {
        switch self {
        case .backup: nil
        case .time(let time): Limit(sequence: nil, time: time)
        case .commit(let sequence, let id): id == database.id ? Limit(sequence: sequence, time: nil) : nil
        }
    }

    /// The last commit that is wanted.
    struct Limit {
        /// Its sequence number; `nil` if a time decides.
        let sequence: SequenceNumber?
        /// The latest time; `nil` if a sequence number decides.
        let time: Timestamp?

        /// Returns whether a commit is wanted.
        func includes(_ sequence: SequenceNumber, _ time: Timestamp) -> Bool {
            self.sequence.map { sequence <= $0 } ?? true && self.time.map { time <= $0 } ?? true
        }
    }
}

/// The result of a restore.
package struct RestoreReport: Sendable {
    /// A restored database.
    package struct Database: Sendable {
        /// The database; `nil` for the default one.
        package let id: DatabaseID?
        /// The number of its documents.
        package let documentCount: Int
        /// The last commit that it has.
        package let lastSequence: SequenceNumber
        /// Its time; `nil` before the first commit.
        package let lastCommitTime: Timestamp?
        /// True if no later commit is known, so that later ones may have been lost before the moment that was wanted.
        package let isLastKnownCommit: Bool
    }

    /// The databases, the default one first.
    package let databases: [Database]
    /// The number of databases that the backup does not have, and the archive has commits of that were made after it.
    package let missingCount: Int
    /// The faults of the backup for each of which something was left out; empty unless the restore was told to go on.
    package let leftOut: [StatusError]

    /// The number of documents in all databases.
    package var documentCount: Int { databases.reduce(0) { $0 + $1.documentCount } }
}
