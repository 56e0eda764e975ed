import Concurrency
package import DocumentModel
package import DocumentStore
import Logging
import Synchronization
import UTF8Text

/// The backups that a server is making and verifying, and the failure of the last one.
package struct BackupStatus: Sendable {
    /// The time at which the backup in progress was begun; `nil` if none is being made.
    package var runningSince: Timestamp?
    /// The number of files that it has so far.
    package var fileCount = 0
    /// The backup that is being verified, and the time at which that was begun; `nil` if none is.
    package var verifying: (name: String, startTime: Timestamp)?
    /// The error of the last backup, with the time at which that was begun; `nil` if it did not fail.
    package var lastFailure: (startTime: Timestamp, error: StatusError)?

    package init(
        runningSince: Timestamp?,
        fileCount: Int,
        verifying: (name: String, startTime: Timestamp)? = nil,
        lastFailure: (startTime: Timestamp, error: StatusError)?
    ) {
        (self.runningSince, self.fileCount) = (runningSince, fileCount)
        (self.verifying, self.lastFailure) = (verifying, lastFailure)
    }
}

/// A backup in progress.
struct BackupTask {
    let startTime: Timestamp
    let progress: BackupProgress
    let task: Task<Result<Backup, StatusError>, Never>
}

/// A verification of a backup in progress.
struct VerificationTask {
    let name: String
    let startTime: Timestamp
    let task: Task<Void, Never>
}

// Backups outlive the calls that start them, since they may take long: they end with the server.
extension DatabaseRegistry {
    /// Starts a backup of all databases, each as of one commit, while they are used.
    ///
    /// - Parameter includesKeys: True to include the API keys.
    /// - Returns: The time at which it was begun.
    /// - Throws: `.failedPrecondition` if the server has no folder for backups, or is making one.
    package func startBackup(includingKeys includesKeys: Bool) throws(StatusError) -> Timestamp {
        try startBackupTask(includingKeys: includesKeys).startTime
    }

    /// Makes a backup of all databases.
    ///
    /// - Throws: The errors of ``startBackup(includingKeys:)`` and ``BackupStore``, which have been logged.
    package func makeBackup(includingKeys includesKeys: Bool) async throws(StatusError) -> Backup {
        try await startBackupTask(includingKeys: includesKeys).task.value.get()
    }

    /// Removes the oldest backups.
    ///
    /// - Parameter count: The number of backups to keep.
    package func pruneBackups(keeping count: Int) async throws(StatusError) {
        for name in try await backups.prune(keeping: count) {
            logger.notice("Backup removed", metadata: ["backup.name": "\(name)"])
        }
    }

    /// Archives the commits of all databases beside the backups. Those that have not been open since the last call have no others.
    package func archiveJournals() async throws(StatusError) {
        let time = Timestamp.current()
        do throws(StatusError) {
            try await archiveChangedJournals()
            backupMetrics?.recordArchiving(upTo: time)
        } catch {
            backupMetrics?.recordArchiving(upTo: nil)
            throw error
        }
    }

    private func archiveChangedJournals() async throws(StatusError) {
        try await backups.archiveJournal(of: host.defaultStore)
        let changed = if let unarchived { unarchived } else { Set(try await host.databases()) }
        unarchived = Set(openDatabases.map(\.id))
        var failure: StatusError?
        for id in changed {
            do throws(StatusError) {
                let lease = try await lease(id)
                if let store = lease.database.store { try await backups.archiveJournal(of: store) }
                withExtendedLifetime(lease) {}
            } catch {
                // The others are archived nevertheless, and this one at the next call.
                unarchived?.insert(id)
                failure = failure ?? error
            }
        }
        if let failure { throw failure }
    }

    /// Compares all files of a backup with their digests.
    ///
    /// - Parameters:
    ///   - onFile: Called for each file that has been read, on any thread. Its error ends the verification.
    ///   - onFault: Called with an error for each file that is missing or altered, on any thread.
    nonisolated func verifyBackup(
        _ name: String,
        onFile: @escaping @Sendable () throws(StatusError) -> Void = {},
        onFault: @escaping @Sendable (StatusError) -> Void = { _ in }
    ) async throws(StatusError) {
        let backups = try backups
        let faults = FaultCount()
        do throws(StatusError) {
            try await backups.verify(name, onFile: onFile) { fault in
                faults.add(fault)
                onFault(fault)
            }
        } catch {
            if error.code != .cancelled {
                logger.error("Failed to verify a backup", metadata: ["backup.name": "\(name)", "error": "\(error)"])
            }
            throw error
        }
        let (count, first) = faults.value
        if let first {
            logger.error(
                "A backup is damaged",
                metadata: ["backup.name": "\(name)", "backup.faults": "\(count)", "error": "\(first)"]
            )
        } else {
            logger.notice("Backup verified", metadata: ["backup.name": "\(name)"])
        }
        if let time = try? await backups.verifications().lastSuccess?.time { backupMetrics?.recordVerification(at: time) }
    }

    /// Starts the verification of a backup, whose result is recorded.
    ///
    /// - Returns: The time at which it was begun.
    /// - Throws: `.notFound` if there is no such backup; `.failedPrecondition` if the server has no folder for backups, or is verifying
    ///   one.
    func startVerification(of name: String) async throws(StatusError) -> Timestamp {
        guard try await backups.list().contains(where: { $0.name.utf8.elementsEqual(name.utf8) }) else {
            throw StatusError(.notFound, "There is no backup \(Excerpt(name)). backups.list lists those that exist.")
        }
        guard !isClosed else { throw Self.shuttingDown }
        guard verificationTask == nil else {
            throw StatusError(.failedPrecondition, "Another backup is being verified. backups.list shows when that is complete.")
        }
        let startTime = Timestamp.current()
        // It outlives the call that starts it, whose time limit does not hold.
        let task = CallAdmission.$current.withValue(nil) {
            Task {
                // Its error has been logged.
                try? await self.verifyBackup(name)
                self.verificationTask = nil
            }
        }
        verificationTask = VerificationTask(name: name, startTime: startTime, task: task)
        return startTime
    }

    /// The backup in progress, and the failure of the last one.
    package var backupStatus: BackupStatus {
        BackupStatus(
            runningSince: backupTask?.startTime,
            fileCount: backupTask?.progress.fileCount ?? 0,
            verifying: verificationTask.map { ($0.name, $0.startTime) },
            lastFailure: backupFailure
        )
    }

    /// The backups of the host.
    ///
    /// - Throws: `.failedPrecondition` if the server has no folder for them.
    package nonisolated var backups: any BackupStore {
        get throws(StatusError) {
            guard let backups = host.backups else { throw engineStatus == nil ? .noBackupFolder : .noBackupOfEngine }
            return backups
        }
    }

    /// Cancels the backup and the verification in progress, and waits until nothing is left of them.
    func stopBackups() async {
        backupTask?.task.cancel()
        verificationTask?.task.cancel()
        _ = await backupTask?.task.value
        await verificationTask?.task.value
    }

    private func startBackupTask(includingKeys includesKeys: Bool) throws(StatusError) -> BackupTask {
        let backups = try backups
        guard !isClosed else { throw Self.shuttingDown }
        guard backupTask == nil else {
            throw StatusError(.failedPrecondition, "Another backup is being made. backups.list shows when it is complete.")
        }
        let startTime = Timestamp.current()
        let progress = BackupProgress()
        // It outlives the call that starts it, whose time limit does not hold.
        let task = CallAdmission.$current.withValue(nil) {
            Task {
                let result: Result<Backup, StatusError>
                do throws(StatusError) {
                    result = .success(
                        try await self.makeBackup(
                            in: backups,
                            startTime: startTime,
                            includingKeys: includesKeys,
                            progress: progress
                        )
                    )
                } catch {
                    result = .failure(error)
                }
                self.didEndBackup(result, startTime: startTime)
                return result
            }
        }
        let started = BackupTask(startTime: startTime, progress: progress, task: task)
        backupTask = started
        return started
    }

    private func makeBackup(
        in backups: any BackupStore,
        startTime: Timestamp,
        includingKeys includesKeys: Bool,
        progress: BackupProgress
    ) async throws(StatusError) -> Backup {
        let request = BackupRequest(
            startTime: startTime,
            databases: try await host.databases(),
            includesKeys: includesKeys,
            version: ServerDescription.version,
            progress: progress
        )
        return try await backups.create(request) { id, body throws(StatusError) in
            let lease = try await self.lease(id)
            // Until here, the lease keeps the store open.
            defer { withExtendedLifetime(lease) {} }
            guard let store = lease.database.store else { return }
            try await body(store)
        }
    }

    private func didEndBackup(_ result: Result<Backup, StatusError>, startTime: Timestamp) {
        backupTask = nil
        switch result {
        case .success(let backup):
            backupFailure = nil
            backupMetrics?.record(backup)
            let duration = (backup.endTime.microseconds - backup.startTime.microseconds) / 1_000
            logger.notice(
                "Backup made",
                metadata: [
                    "backup.name": "\(backup.name)", "backup.files": "\(backup.fileCount)", "backup.bytes": "\(backup.byteCount)",
                    "backup.milliseconds": "\(duration)",
                ]
            )
        case .failure(let error):
            backupFailure = (startTime, error)
            backupMetrics?.recordFailure()
            logger.error("Failed to make a backup", metadata: ["error": "\(error)"])
        }
    }
}

/// The faults that a verification finds.
private final class FaultCount: Sendable {
    private let state = Mutex<(count: Int, first: StatusError?)>((0, nil))

    var value: (count: Int, first: StatusError?) { state.withLock { $0 } }

    func add(_ fault: StatusError) {
        state.withLock { $0 = ($0.count + 1, $0.first ?? fault) }
    }
}

extension StatusError {
    /// The error of a server without a folder for backups.
    static let noBackupFolder = StatusError(
        .failedPrecondition,
        "The server has no folder for backups. Start it with --backups DIR."
    )
    /// The error of a server whose databases are in an engine.
    static let noBackupOfEngine = StatusError(
        .failedPrecondition,
        "The databases are in an engine, which has tools of its own for backups, such as pg_dump and pg_basebackup."
    )
}
