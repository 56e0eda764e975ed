import ArgumentParser

/// `hearth backup`
struct BackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "backup",
        abstract: "Make, list, verify and remove backups.",
        discussion: """
            A backup is a folder that contains all databases, each as of one commit, with their journals, index definitions and \
            security rules. It is a data folder: `hearth check --data` checks it, and `hearth restore` makes a new data folder of \
            it. Documents that have not changed since the previous backup in the same folder take no space in the next one (they \
            are hard links), so serve a copy, never a backup itself.
            """,
        subcommands: [CreateBackupCommand.self, ListBackupsCommand.self, VerifyBackupCommand.self, PruneBackupsCommand.self]
    )
}
