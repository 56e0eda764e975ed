import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import Logging
import Synchronization
import UTF8Text

/// `hearth backup verify`
struct VerifyBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the files of a backup with their SHA-256 digests.",
        discussion: """
            Prints one line for each file that is missing or altered, followed by a summary. `sha256sum --check SHA256SUMS` in the \
            folder of the backup does the same, except for backup.json, which has a digest of its own.

            With --restore-in, also restores the backup to a new folder there, opens every database, builds its index, checks both as \
            `hearth check` does, and removes the folder. That takes the space of all documents and indexes, and the time of a restore and of \
            two checks. What the check finds, such as a broken file among the documents, the database has had when the backup was made: it is \
            printed, and is no fault of the backup.

            If all files are read, or a fault is found, the result is recorded in verified.json beside the backup, for the admin pages and \
            hearth_backup_verified_timestamp_seconds. A restore that finds damage counts as a fault.

            Exits with status 1 if the backup is damaged, it cannot be restored, or the check has findings.
            """
    )

    @Argument(help: ArgumentHelp("Folder of the backup.", valueName: "dir"), completion: .directory)
    var backup: String

    @Option(help: ArgumentHelp("Reads only this share of the files, chosen at random.", valueName: "percent"))
    var sample = 100

    @Option(
        help: ArgumentHelp("Also restores the backup to a temporary folder in this one, and checks it.", valueName: "dir"),
        completion: .directory
    )
    var restoreIn: String?

    func validate() throws {
        guard restoreIn == nil || sample == 100 else {
            throw ValidationError("--restore-in and --sample are mutually exclusive.")
        }
        guard (1...100).contains(sample) else { throw ValidationError("--sample must be between 1 and 100.") }
    }

    func run() async throws {
        let startTime = Timestamp.current()
        let reader = try await BackupReader.open(backup)
        let faults = Atomic(0)
        let interval = max(1, min(100 / sample, reader.backup.fileCount))
        let count = try await reader.verify(every: interval) { fault in
            faults.add(1, ordering: .relaxed)
            print(fault.message)
        }
        let damaged = faults.load(ordering: .relaxed)
        print(
            "\(count.counted("file")) of \(reader.backup.fileCount) read: "
                + (damaged == 0 ? "no faults" : damaged.counted("fault"))
        )
        let result = { (faultCount: Int) in
            BackupVerification(backup: reader.backup.name, time: startTime, faultCount: faultCount)
        }
        if damaged > 0 || interval == 1 { await record(result(damaged)) }
        guard damaged == 0 else { throw ExitCode.failure }
        guard let restoreIn else { return }
        do {
            guard try await findingsOfRestore(of: reader, in: restoreIn) == 0 else { throw ExitCode.failure }
        } catch let error as StatusError where error.code == .dataLoss {
            await record(result(1))
            throw error
        }
    }

    /// Restores the backup, opens its databases, builds their indexes, checks both, and removes them again.
    ///
    /// - Returns: The number of findings, which have been printed.
    private func findingsOfRestore(of reader: BackupReader, in folder: String) async throws -> Int {
        let path = "\(folder)/hearth-verify-\(Hexadecimal.random(byteCount: 8))"
        defer { try? FileManager.default.removeItem(atPath: path) }
        let logger = Logger(label: "hearth.verify") { _ in LineLogHandler.standardError }
        let restored = try await BackupRestore(reader, to: path, logger: logger).run()
        let folders = try await DatabaseFolders.open(inFolder: path)
        var (documents, findings) = (0, 0)
        for database in restored.databases {
            let target: CheckTarget = if let id = database.id { .named(id, folders) } else { .defaultDatabase(folder: path) }
            let found = Mutex<Set<CheckFinding>>([])
            let onFinding = { @Sendable (finding: CheckFinding) in
                if found.withLock({ $0.insert(finding).inserted }) { print(finding.text) }
            }
            // Also what building the index mends.
            let report = try await target.check(
                repairing: CheckTarget.Repair(rebuildsIndex: true),
                onEarlierFinding: onFinding,
                onFinding: onFinding
            )
            documents += report.documents
            findings += found.withLock(\.count)
        }
        let result = findings == 0 ? "no findings" : findings.counted("finding")
        print("restored, opened and checked, \(documents.counted("document")): \(result)")
        return findings
    }

    /// Records the result beside the backup, for the server that makes the backups.
    private func record(_ verification: BackupVerification) async {
        do throws(StatusError) {
            try await BackupFolder.open(backup + "/..").record(verification)
        } catch {
            Console.standardError.report("This verification could not be recorded beside the backup. \(error)")
        }
    }
}
