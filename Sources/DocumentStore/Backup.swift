package import DocumentModel
import Synchronization

/// A backup of the databases of a host, each as of one commit.
package struct Backup: Hashable, Sendable {
    /// The state of a database in a backup.
    package struct Database: Hashable, Sendable {
        /// The database; `nil` for the default one.
        package let id: DatabaseID?
        /// The epoch of its history.
        package let epoch: Epoch
        /// The last commit that the backup contains.
        package let lastSequence: SequenceNumber
        /// Its time; `nil` before the first commit.
        package let lastCommitTime: Timestamp?

        package init(id: DatabaseID?, epoch: Epoch, lastSequence: SequenceNumber, lastCommitTime: Timestamp?) {
            self.id = id
            self.epoch = epoch
            self.lastSequence = lastSequence
            self.lastCommitTime = lastCommitTime
        }
    }

    /// The name of the backup's folder: its time, as in `2026-11-26T18-05-00Z`.
    package let name: String
    /// The time at which it was begun.
    package let startTime: Timestamp
    /// The time at which it was complete.
    package let endTime: Timestamp
    /// The version of Hearth that made it.
    package let version: String
    /// The databases, the default one first.
    package let databases: [Database]
    /// The number of files.
    package let fileCount: Int
    /// The size of all files.
    package let byteCount: Int
    /// True if the API keys are in the backup.
    package let includesKeys: Bool

    package init(
        name: String,
        startTime: Timestamp,
        endTime: Timestamp,
        version: String,
        databases: [Database],
        fileCount: Int,
        byteCount: Int,
        includesKeys: Bool
    ) {
        self.name = name
        self.startTime = startTime
        self.endTime = endTime
        self.version = version
        self.databases = databases
        self.fileCount = fileCount
        self.byteCount = byteCount
        self.includesKeys = includesKeys
    }
}

/// The contents of a backup to be made.
package struct BackupRequest: Sendable {
    /// The time at which it is begun, which names it.
    package let startTime: Timestamp
    /// The additional databases; the default one is always part of it.
    package let databases: [DatabaseID]
    /// True to include the API keys.
    package let includesKeys: Bool
    /// The version of Hearth.
    package let version: String
    /// The part that is done.
    package let progress: BackupProgress

    package init(
        startTime: Timestamp,
        databases: [DatabaseID],
        includesKeys: Bool,
        version: String,
        progress: BackupProgress = BackupProgress()
    ) {
        self.progress = progress
        self.startTime = startTime
        self.databases = databases
        self.includesKeys = includesKeys
        self.version = version
    }
}

/// The number of files that a backup in progress has.
package final class BackupProgress: Sendable {
    private let files = Atomic(0)

    package init() {}

    package var fileCount: Int { files.load(ordering: .relaxed) }

    /// Records a file.
    package func addFile() {
        files.add(1, ordering: .relaxed)
    }
}

/// A verification of a backup: the comparison of its files with their digests.
package struct BackupVerification: Hashable, Sendable {
    /// The name of the backup.
    package let backup: String
    /// The time at which it was begun.
    package let time: Timestamp
    /// The number of files that were missing or altered.
    package let faultCount: Int

    package init(backup: String, time: Timestamp, faultCount: Int) {
        (self.backup, self.time, self.faultCount) = (backup, time, faultCount)
    }
}

/// The recorded verifications of backups.
package struct BackupVerifications: Hashable, Sendable {
    /// The last verification without a fault, also of a backup that has been removed since; `nil` if there was none.
    package var lastSuccess: BackupVerification?
    /// The last verification of each backup.
    package var latest: [BackupVerification]

    package init(lastSuccess: BackupVerification? = nil, latest: [BackupVerification] = []) {
        (self.lastSuccess, self.latest) = (lastSuccess, latest)
    }

    /// Returns the last verification of a backup; `nil` if there was none.
    package func latest(of backup: Backup) -> BackupVerification? {
        latest.last { $0.backup.utf8.elementsEqual(backup.name.utf8) }
    }
}

/// The backups of a host's databases: a capability that only some drivers offer, if the operator has named a folder for them.
package protocol BackupStore: Sendable {
    /// Makes a backup while the databases are read and written. Nobody waits for it.
    ///
    /// - Parameter withStore: Calls its second argument with the open store of an additional database; has no effect if the
    ///   database does not exist any longer.
    /// - Throws: `.failedPrecondition` while another backup is being made; `.resourceExhausted` without enough space for it;
    ///   `.cancelled` if the task is cancelled; the errors of reading and writing files. Nothing remains of a backup that fails.
    func create(
        _ request: BackupRequest,
        withStore:
            @Sendable (
                DatabaseID, @Sendable (any DocumentStore) async throws(StatusError) -> Void
            ) async throws(StatusError) -> Void
    ) async throws(StatusError) -> Backup

    /// Returns the complete backups, oldest first.
    func list() async throws(StatusError) -> [Backup]

    /// Returns the recorded verifications; none if the record is damaged.
    func verifications() async throws(StatusError) -> BackupVerifications

    /// Compares all files of a backup with their digests, and records the verification.
    ///
    /// - Parameters:
    ///   - onFile: Called for each file that has been read, on any thread. Its error ends the verification.
    ///   - onFault: Called with an error for each file that is missing or altered, on any thread.
    /// - Throws: `.notFound` if there is no such backup, also if it is removed meanwhile; `.dataLoss` if its list of files is damaged; `.cancelled` if the task is
    ///   cancelled.
    func verify(
        _ name: String,
        onFile: @escaping @Sendable () throws(StatusError) -> Void,
        onFault: @escaping @Sendable (StatusError) -> Void
    ) async throws(StatusError)

    /// Archives the commits of a database beside the backups, so that a restore can go beyond the last backup.
    /// They are durable there when this returns.
    ///
    /// - Parameter store: The open store of the database.
    func archiveJournal(of store: any DocumentStore) async throws(StatusError)

    /// Removes the oldest backups, and of the archived commits those that no backup needs.
    ///
    /// - Parameter count: The number of backups to keep, at least 1.
    /// - Returns: The names of those that were removed.
    func prune(keeping count: Int) async throws(StatusError) -> [String]
}
