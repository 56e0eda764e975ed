package import DocumentModel
package import DocumentStore
package import Logging
package import StorageIO
internal import Synchronization

/// The databases of a data folder: the default one in the folder itself, the additional ones in ``DatabaseFolders``.
package final class FileStoreHost: StoreHost {
    /// The store of the default database.
    package let defaultFileStore: FileStore
    private let folders: DatabaseFolders
    /// The configuration of the additional databases, except for their folders and identities.
    private let configuration: FileStoreConfiguration
    private let backupFolder: BackupFolder?
    /// The databases whose promotion is not complete, so that they must not accept writes.
    private let unpromoted: Mutex<Set<DatabaseID>>
    private let logger: Logger

    private init(
        _ defaultStore: FileStore,
        _ folders: DatabaseFolders,
        _ configuration: FileStoreConfiguration,
        backupFolder: BackupFolder?,
        unpromoted: Set<DatabaseID>,
        logger: Logger
    ) {
        defaultFileStore = defaultStore
        replication = FileHostReplication(path: folders.path, databases: folders)
        self.unpromoted = Mutex(unpromoted)
        self.backupFolder = backupFolder
        self.folders = folders
        self.configuration = configuration
        self.logger = logger
    }

    /// Opens a data folder and its default database, creating them if needed.
    ///
    /// - Parameters:
    ///   - configuration: The configuration of the default database; the others get a small part of its memory.
    ///   - backupFolder: The folder for backups; `nil` to make none.
    /// - Throws: The errors of ``FileStore/open(_:logger:)``.
    package static func open(
        _ configuration: FileStoreConfiguration,
        backupFolder: BackupFolder? = nil,
        logger: Logger
    ) async throws(StatusError) -> FileStoreHost {
        let store = try await FileStore.open(configuration, logger: logger)
        do throws(StatusError) {
            return try await open(store, configuration, backupFolder: backupFolder, logger: logger)
        } catch {
            await store.close()
            throw error
        }
    }

    /// Opens a data folder whose default database is open.
    package static func open(
        _ defaultStore: FileStore,
        _ configuration: FileStoreConfiguration,
        backupFolder: BackupFolder? = nil,
        logger: Logger
    ) async throws(StatusError) -> FileStoreHost {
        let folders = try await DatabaseFolders.open(inFolder: configuration.folder)
        let additional = configuration.forAdditionalDatabase
        let record = try await folders.standbyRecord()
        return FileStoreHost(
            defaultStore,
            folders,
            additional,
            backupFolder: backupFolder,
            unpromoted: Set(record?.unpromoted ?? []),
            logger: logger
        )
    }

    /// Returns a file of a database's folder.
    ///
    /// - Parameter id: The additional database, or `nil` for the default one.
    /// - Returns: `nil` if the database does not exist.
    package func file(
        _ name: LockedAtomicFile.Name,
        of id: DatabaseID?
    ) async throws(StatusError) -> LockedAtomicFile? {
        guard let id else { return try await .open(name, inFolder: configuration.folder) }
        guard try await contains(id) else { return nil }
        return try await .open(name, inFolder: folders.path(of: id))
    }

    package var defaultStore: any DocumentStore { defaultFileStore }

    package func databases() async throws(StatusError) -> [DatabaseID] { try await folders.all() }

    package func contains(_ id: DatabaseID) async throws(StatusError) -> Bool { try await folders.contains(id) }

    package func open(_ identity: DatabaseIdentity) async throws(StatusError) -> any ClosableStore {
        if let id = identity.id, unpromoted.withLock({ $0.contains(id) }) {
            throw StatusError(
                .failedPrecondition,
                "The database could not be opened when this server was promoted, and has not been promoted. Check it with hearth check, "
                    + "repair it, and start the server again."
            )
        }
        var logger = logger
        logger[metadataKey: "database.id"] = identity.id.map { .string($0.description) }
        return try await folders.open(identity, configuration, logger: logger)
    }

    package func delete(_ id: DatabaseID) async throws(StatusError) {
        try await folders.remove(id)
        unpromoted.withLock { _ = $0.remove(id) }
    }

    package func purgeDeletedDatabases() async throws(StatusError) { try await folders.purgeDeletedDatabases() }

    package func stopPurging() { folders.stopPurging() }

    package var backups: (any BackupStore)? {
        backupFolder.map { HostBackups(folder: $0, defaultStore: defaultFileStore, databases: folders) }
    }

    package let replication: (any HostReplication)?

    @discardableResult
    package func close() async -> StatusError? { await defaultFileStore.close() }
}
