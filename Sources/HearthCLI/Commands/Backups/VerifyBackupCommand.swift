import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Synchronization
import UTF8Text

/// `hearth backup verify`
struct VerifyBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "verify",
        abstract: "Compare the files of a backup with their SHA-256 digests.",
        discussion: """
            Prints one line for each file that is missing or altered, followed by a summary. `sha256sum --check SHA256SUMS` in the \
            folder of the backup does the same. That a backup can be restored, only a restore shows. If all are read, or a fault is \
            found, the result is recorded in verified.json beside the backup, for the admin pages and \
            hearth_backup_verified_timestamp_seconds.

            Exits with status 1 if the backup is damaged.
            """
    )

    @Argument(help: ArgumentHelp("Folder of the backup.", valueName: "dir"), completion: .directory)
    var backup: String

    @Option(help: ArgumentHelp("Reads only this share of the files, chosen at random.", valueName: "percent"))
    var sample = 100

    func validate() throws {
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
        if damaged > 0 || interval == 1 {
            await record(BackupVerification(backup: reader.backup.name, time: startTime, faultCount: damaged))
        }
        guard damaged == 0 else { throw ExitCode.failure }
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
