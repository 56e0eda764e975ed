package import DocumentModel
package import DocumentStore
package import Logging

/// The databases of a server beside its default one: each is opened when somebody uses it, and made by its first write.
///
/// Of those that exist a bounded number is open at a time. Where one more is wanted, the one that has not been used for longest
/// is closed. None of them takes memory or time before it is used, and the default database never waits for any.
package actor Databases {
    /// The name of the default database, which is none of these.
    package nonisolated let defaultID: DatabaseID
    let folders: DatabaseFolders
    let configuration: FileStoreConfiguration
    /// How many stores may be open at the same time.
    let limit: Int
    let logger: Logger

    /// What is known of a database.
    enum Slot {
        case opening(Task<Result<Database, StatusError>, Never>)
        case open(Database)
        /// Being closed or deleted.
        case closing(Task<StatusError?, Never>)
    }

    var slots: [DatabaseID: Slot] = [:]
    /// Those that are being made by their first writes.
    var making: [DatabaseID: Task<Result<FileStore, StatusError>, Never>] = [:]
    /// How many stores are open, being opened or being closed.
    var storeCount = 0
    var isClosed = false
    /// The last removal of what deleted ones have left.
    var removal: Task<Void, Never>?

    private init(
        besides defaultID: DatabaseID,
        in folders: DatabaseFolders,
        _ configuration: FileStoreConfiguration,
        limit: Int,
        logger: Logger
    ) {
        self.defaultID = defaultID
        self.folders = folders
        self.configuration = configuration
        self.limit = limit
        self.logger = logger
    }

    /// The databases of a data folder, whose default one has been opened before.
    ///
    /// - Parameters:
    ///   - defaultID: What the default database is called.
    ///   - configuration: How that was opened; the others get a small part of its memory.
    ///   - limit: How many may be open at the same time, at least 1.
    /// - Throws: ``StatusCode/failedPrecondition`` when there is another database with the name of the default one.
    package static func open(
        besides defaultID: DatabaseID = .standard,
        _ configuration: FileStoreConfiguration,
        limit: Int = 16,
        logger: Logger
    ) async throws(StatusError) -> Databases {
        let folders = try await DatabaseFolders.open(inFolder: configuration.folder)
        guard try await !folders.contains(defaultID) else {
            throw StatusError(
                .failedPrecondition,
                "The default database can't be called \(Excerpt(defaultID.description)), since the data folder has another one of that "
                    + "name. Give --project the name that the data folder was served with before."
            )
        }
        let databases = Databases(
            besides: defaultID,
            in: folders,
            configuration.forOneOfMany,
            limit: max(1, limit),
            logger: logger
        )
        // A deletion may have been interrupted.
        await databases.startRemovingLeftovers()
        return databases
    }

    /// All databases, the default one first.
    package func all() async throws(StatusError) -> [DatabaseID] {
        [defaultID] + (try await folders.all())
    }
}
