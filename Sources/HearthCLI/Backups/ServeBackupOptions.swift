import ArgumentParser
import DocumentModel
import FileStore

/// Options of `hearth serve` for backups.
struct ServeBackupOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Folder for backups, outside of the data folder, best on another disk. Allows `hearth backup create`.",
            valueName: "dir"
        ),
        completion: .directory
    )
    var backups: String?

    @Option(help: ArgumentHelp("Makes a backup whenever the last one is this old.", valueName: "hours"))
    var backupHours: Int?

    @Option(
        help: ArgumentHelp(
            "Number of backups to keep; older ones are removed after each scheduled backup, or before one that lacks space.",
            valueName: "count"
        )
    )
    var keepBackups: Int?

    @Option(
        help: ArgumentHelp(
            "Archives commits in the folder for backups at this interval, so that a restore loses no more than that.",
            valueName: "seconds"
        )
    )
    var archiveSeconds: Int?

    func validate() throws {
        guard backups != nil || archiveSeconds == nil else { throw ValidationError("--archive-seconds requires --backups.") }
        guard (1...86_400).contains(archiveSeconds ?? 1) else {
            throw ValidationError("--archive-seconds must be between 1 and 86400.")
        }
        guard backups != nil || (backupHours == nil && keepBackups == nil) else {
            throw ValidationError("--backup-hours and --keep-backups require --backups.")
        }
        guard (1...24 * 366).contains(backupHours ?? 1) else {
            throw ValidationError("--backup-hours must be between 1 and 8784.")
        }
        guard keepBackups == nil || backupHours != nil else { throw ValidationError("--keep-backups requires --backup-hours.") }
        guard (1...10_000).contains(keepBackups ?? 1) else {
            throw ValidationError("--keep-backups must be between 1 and 10000.")
        }
    }

    /// Opens the folder for backups, and creates it if it does not exist; `nil` without one.
    func openFolder(outside data: String) async throws(StatusError) -> BackupFolder? {
        guard let backups else { return nil }
        return try await BackupFolder.open(backups, outside: data, creating: true, claiming: true)
    }
}
