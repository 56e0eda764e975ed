import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import Logging
import PostgresStore
import StorageIO
import UTF8Text

/// The driver of the databases of a server, and the files that it has beside them.
struct ServeDriver {
    /// The databases.
    let host: any StoreHost
    /// Returns the files with the rules of a database; `nil` if it does not exist.
    let rulesFiles: @Sendable (DatabaseID?) async throws(StatusError) -> RulesFiles?

    /// Opens the data folder, or connects to the engine.
    static func open(
        _ options: ServeOptions,
        primary: String?,
        metrics: any StoreObserver,
        logger: Logger
    ) async throws(StatusError) -> ServeDriver {
        if let url = options.engine { return try await open(url, options, metrics, logger) }
        var configuration = FileStoreConfiguration(folder: options.data)
        configuration.observer = metrics
        configuration.primary = primary
        options.limits.apply(to: &configuration)
        options.folderEdits.apply(to: &configuration)
        let backupFolder = try await options.backup.openFolder(outside: options.data)
        let host = try await FileStoreHost.open(configuration, backupFolder: backupFolder, logger: logger)
        return ServeDriver(host: host) { id throws(StatusError) in try await RulesFiles(of: id, in: host) }
    }

    private static func open(
        _ url: String,
        _ options: ServeOptions,
        _ metrics: any StoreObserver,
        _ logger: Logger
    ) async throws(StatusError) -> ServeDriver {
        try makeFolder(options.data)
        // Checks the folder, before the engine is changed.
        _ = try await LockedAtomicFile.open(.keys, inFolder: options.data, creatingFolder: true)
        var configuration = PostgresConfiguration(try EngineAddress(url))
        configuration.observer = metrics
        options.limits.apply(to: &configuration)
        let host = try await PostgresHost.open(configuration, logger: logger)
        let (defaultFolder, folder) = (options.data, options.engineFolder)
        return ServeDriver(host: host) { id throws(StatusError) in
            guard let id else { return try await RulesFiles(inFolder: defaultFolder) }
            guard try await host.contains(id) else { return nil }
            let path = "\(folder)/databases/\(id.description)"
            try makeFolder(path)
            return try await RulesFiles(inFolder: path)
        }
    }

    private static func makeFolder(_ path: String) throws(StatusError) {
        do {
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        } catch {
            throw StatusError(
                .failedPrecondition,
                "The folder of the server's own files cannot be created. Name another one with --server-folder.",
                cause: error
            )
        }
    }
}

extension RulesFiles {
    /// Opens the files in a folder, which are created when they are first written.
    fileprivate init(inFolder path: String) async throws(StatusError) {
        self.init(
            rules: try await .open(.rules, inFolder: path, creatingFolder: true),
            history: try await .open(.rulesHistory, inFolder: path, creatingFolder: true)
        )
    }
}
