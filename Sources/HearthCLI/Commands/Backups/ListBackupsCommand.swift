import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import UTF8Text

/// `hearth backup list`
struct ListBackupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "list",
        abstract: "Print the complete backups in a folder, oldest first.",
        discussion: """
            One per line: the name, the number of databases, files and bytes, and the version of Hearth that made it. Those whose \
            backup.json is damaged, or of a newer version of Hearth, are reported on standard error.
            """
    )

    @Argument(help: ArgumentHelp("Folder for backups.", valueName: "dir"), completion: .directory)
    var folder: String

    func run() async throws {
        var output = BufferedOutput.standard()
        let folder = try await BackupFolder.open(folder)
        for backup in try await folder.list() {
            let keys = backup.includesKeys ? ", with keys" : ""
            let line =
                "\(Excerpt(backup.name, maximumBytes: .max).text)  \(backup.databases.count.counted("database")), "
                + "\(backup.fileCount.counted("file")), \(backup.byteCount.counted("byte"))\(keys), Hearth \(backup.version)"
            try output.writeLine(line.utf8)
        }
        try output.flush()
        for (_, error) in try await folder.unusable() { Console.standardError.report(error) }
    }
}

/// `hearth backup prune`
struct PruneBackupsCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "prune",
        abstract: "Remove the oldest backups in a folder, and print their names."
    )

    @Argument(help: ArgumentHelp("Folder for backups.", valueName: "dir"), completion: .directory)
    var folder: String

    @Option(help: ArgumentHelp("Number of backups to keep, at least 1.", valueName: "count"))
    var keep: Int

    func validate() throws {
        guard keep >= 1 else { throw ValidationError("--keep must be at least 1: the last backup is never removed.") }
    }

    func run() async throws {
        for name in try await BackupFolder.open(folder).prune(keeping: keep) { print(Excerpt(name, maximumBytes: .max).text) }
    }
}
