import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import Logging
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

            With --to or --to-commit, commits after the backup are added, up to a moment: from the journals of later backups in the \
            same folder, and of the previous data folder, which a server may have open. Index definitions and rules are those of the \
            backup.

            A file of the backup that is missing or altered ends the restore, and no data folder is made. With --skip-damaged, it is \
            left out and named, and everything else is restored; the exit status is 1 then. A database without its hearth.json is left \
            out as a whole; without that of the default database, or without backup.json, nothing can be restored.

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

    @Option(
        help: ArgumentHelp("Restores each database as of this time, such as 2026-11-26T14:01:30Z.", valueName: "time"),
        transform: Self.time
    )
    var to: Timestamp?

    @Option(help: ArgumentHelp("Restores one database as of this commit, the others as in the backup.", valueName: "number"))
    var toCommit: UInt64?

    @Option(help: ArgumentHelp("Database of --to-commit, as PROJECT/DATABASE; by default the default one.", valueName: "name"))
    var database: String?

    @Flag(help: "Leave out files of the backup that are missing or altered, and restore the others.")
    var skipDamaged = false

    @OptionGroup var audit: AuditLogOption

    func validate() throws {
        guard to == nil || toCommit == nil else { throw ValidationError("--to and --to-commit are mutually exclusive.") }
        guard database == nil || toCommit != nil else { throw ValidationError("--database requires --to-commit.") }
        _ = try target
    }

    private static func time(_ text: String) throws -> Timestamp {
        guard let time = try? Timestamp(rfc3339: text) else {
            throw ValidationError("--to: \(Excerpt(text)) is not a time, such as 2026-11-26T14:01:30Z.")
        }
        return time
    }

    private var target: RestoreTarget {
        get throws {
            if let to { return .time(to) }
            guard let toCommit else { return .backup }
            do throws(StatusError) {
                let id = try database.map { name throws(StatusError) in
                    try DatabaseID(name, inProject: DatabaseID.standard.project)
                }
                return .commit(SequenceNumber(toCommit), of: id == .standard ? nil : id)
            } catch {
                throw ValidationError(error.message)
            }
        }
    }

    func run() async throws {
        let logger = Logger(label: "hearth.restore") { _ in LineLogHandler.standardError }
        let reader = try await BackupReader.open(backup)
        let report = try await audit.audited(.restoreBackup, on: data) {
            try await BackupRestore(
                reader,
                asOf: try target,
                to: data,
                replacing: previous,
                skippingDamaged: skipDamaged,
                logger: logger
            ).run()
        }
        for database in report.databases {
            let name = Excerpt((database.id ?? .standard).description, maximumBytes: .max).text
            let time = database.lastCommitTime.map { ", \($0.rfc3339)" } ?? ""
            print("\(name): \(database.documentCount.counted("document")) as of commit \(database.lastSequence)\(time)")
            guard database.isLastKnownCommit else { continue }
            Console.standardError.report("\(name): no later commit is known. If there were any, they are lost.")
        }
        if report.missingCount > 0 {
            Console.standardError.report(
                "The archive has commits of \(report.missingCount.counted("database")) that the backup does not have. They are not restored: "
                    + "a database is restored from a backup that was made after it was created."
            )
        }
        if reader.backup.includesKeys {
            Console.standardError.report(
                "The backup includes API keys: those that have been revoked since are valid again. See hearth keys list --data \(data)."
            )
        }
        guard !report.leftOut.isEmpty else { return }
        for fault in report.leftOut { Console.standardError.report(fault) }
        Console.standardError.report(
            "Restored without what is named above (\(report.leftOut.count.counted("fault")) of the backup). An earlier backup may have it."
        )
        throw ExitCode.failure
    }
}
