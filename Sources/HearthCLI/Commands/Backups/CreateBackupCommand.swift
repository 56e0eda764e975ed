import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import HearthAPI
import HearthTransport
import HearthWire
import Logging
import StrictJSON
import UTF8Text

/// `hearth backup create`
struct CreateBackupCommand: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "create",
        abstract: "Make a backup of all databases, and print its name.",
        discussion: """
            Without --data, calls a server, which goes on working and makes the backup in the folder given by its option --backups; \
            that takes a key with the role admin. With --data and --to, makes a backup of a data folder that no server has open.

            Exits when the backup is complete and durable. Nothing remains of a backup that fails.
            """
    )

    @OptionGroup var server: ServerOptions

    @Option(help: ArgumentHelp("Data folder that no server has open.", valueName: "dir"), completion: .directory)
    var data: String?

    @Option(
        help: ArgumentHelp("With --data: folder for the backup, which is created if it doesn't exist.", valueName: "dir"),
        completion: .directory
    )
    var to: String?

    @Flag(help: "Include the API keys, which are stored as digests.")
    var includeKeys = false

    /// The time between two questions whether the backup is complete.
    private static let pollInterval = Duration.milliseconds(250)

    func validate() throws {
        guard (data == nil) == (to == nil) else { throw ValidationError("--data requires --to, the folder for the backup.") }
    }

    func run() async throws {
        let name =
            if let data, let to { try await makeBackup(ofFolder: data, in: to).name } else { try await makeBackupOnServer() }
        print(name)
    }

    private func makeBackupOnServer() async throws -> String {
        try await server.withConnection { connection in
            let started = try await connection.call("backups.create") { params in
                if includeKeys { params.member(BackupKeys.includeKeys, true) }
            }
            let startTime = started[BackupKeys.startTime]?.string ?? ""
            while true {
                let status = try await connection.call("backups.list") { _ in }
                if status[BackupKeys.runningSince]?.string == startTime {
                    try await Task.sleep(for: Self.pollInterval)
                    continue
                }
                for backup in status[BackupKeys.backups]?.elements.map(Array.init) ?? [] {
                    guard backup[BackupKeys.startTime]?.string == startTime else { continue }
                    return backup[BackupKeys.name]?.string ?? ""
                }
                let failure = status[BackupKeys.lastFailure]
                let message = failure?[BackupKeys.startTime]?.string == startTime ? failure?[BackupKeys.message]?.string : nil
                throw StatusError(.unavailable, message ?? "The backup failed. The log of the server has the reason.")
            }
        }
    }

    private func makeBackup(ofFolder data: String, in folder: String) async throws -> Backup {
        let logger = Logger(label: "hearth.backup") { _ in LineLogHandler.standardError }
        // No data folder is created where none exists.
        _ = try await DatabaseFolders.open(inFolder: data)
        let backups = try await BackupFolder.open(folder, outside: data, creating: true)
        var configuration = FileStoreConfiguration(folder: data)
        configuration.searchesForEditedFiles = false
        let host = try await FileStoreHost.open(configuration, backupFolder: backups, logger: logger)
        do {
            let databases = try await DatabaseRegistry.open(of: host, logger: logger)
            let backup = await Result { try await databases.makeBackup(includingKeys: includeKeys) }
            _ = await databases.close()
            if let failure = await host.close() { throw failure }
            return try backup.get()
        } catch {
            await host.close()
            throw error
        }
    }
}
