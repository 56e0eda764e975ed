import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import UTF8Text

/// `hearth restore`
struct RestoreCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "restore",
        abstract: "Make a new data folder of a backup.",
        discussion: """
            Copies the backup to a data folder that does not exist yet, compares each file with its digest on the way, and brings \
            every database to the last commit of the backup. The backup stays as it is.

            The databases begin a new history: watchers get a reset, and every document a new update time, so that clients that \
            keep documents (in a cache, on disk) notice. Create times stay. With --previous, the new history begins after the last \
            commit of the data folder that it replaces.

            API keys are restored if the backup includes them: keys that have been revoked since are valid again. Look at \
            `hearth keys list` before the server starts.
            """
    )

    @Argument(help: ArgumentHelp("Folder of the backup.", valueName: "dir"), completion: .directory)
    var backup: String

    @Option(help: ArgumentHelp("New data folder. Its parent folder must exist.", valueName: "dir"), completion: .directory)
    var data: String

    @Option(
        help: ArgumentHelp("Data folder that the new one replaces, if it still exists.", valueName: "dir"),
        completion: .directory
    )
    var previous: String?

    func run() async throws {
        let reader = try await BackupReader.open(backup)
        let count = try await BackupRestore(reader, to: data, replacing: previous).run()
        print("\(count.counted("document")) in \(reader.backup.databases.count.counted("database")) restored")
        if reader.backup.includesKeys {
            Console.standardError.report(
                "The backup includes API keys: those that have been revoked since are valid again. See hearth keys list --data \(data)."
            )
        }
    }
}
