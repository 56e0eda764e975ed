internal import DocumentModel
internal import DocumentStore
internal import Logging
internal import Synchronization

/// The backups of the databases of a ``FileStoreHost``.
struct HostBackups: BackupStore {
    let folder: BackupFolder
    let defaultStore: FileStore
    let databases: DatabaseFolders

    func create(
        _ request: BackupRequest,
        withStore:
            @Sendable (
                DatabaseID, @Sendable (any DocumentStore) async throws(StatusError) -> Void
            ) async throws(StatusError) -> Void
    ) async throws(StatusError) -> Backup {
        await logUnusable()
        return try await folder.create(request) { backup throws(StatusError) in
            var states = [
                try await defaultStore.backUp(as: nil, to: backup, folder: nil, includesKeys: request.includesKeys)
            ]
            for id in request.databases {
                let state = CopiedState()
                try await withStore(id) { store throws(StatusError) in
                    guard let store = store as? FileStore else {
                        throw StatusError(.internal, "The database \(id) is not in files.")
                    }
                    state.set(
                        try await store.backUp(as: id, to: backup, folder: databases.folderPath(of: id), includesKeys: false)
                    )
                }
                if let state = state.get() { states.append(state) }
            }
            return states
        }
    }

    /// Logs the backups that cannot be used, which no list has.
    private func logUnusable() async {
        for (name, error) in (try? await folder.unusable()) ?? [] {
            defaultStore.components.logger.warning(
                "A backup cannot be used, and journals are kept for it; restore its backup.json from a copy, or remove the backup",
                metadata: ["backup.name": "\(name)", "error": "\(error)"]
            )
        }
    }

    func list() async throws(StatusError) -> [Backup] {
        try await folder.list()
    }

    func verifications() async throws(StatusError) -> BackupVerifications {
        try await folder.verifications()
    }

    func verify(
        _ name: String,
        onFile: @escaping @Sendable () throws(StatusError) -> Void,
        onFault: @escaping @Sendable (StatusError) -> Void
    ) async throws(StatusError) {
        try await folder.verify(name, onFile: onFile, onFault: onFault)
    }

    func archiveJournal(of store: any DocumentStore) async throws(StatusError) {
        guard let store = store as? FileStore else { throw StatusError(.internal, "The database is not in files.") }
        try await folder.archive.archive(store, in: folder.withRoot { root throws(StatusError) in root })
    }

    func prune(keeping count: Int) async throws(StatusError) -> [String] {
        try await folder.prune(keeping: count)
    }
}

/// The state of a database that has been copied; `nil` if it was deleted before.
private final class CopiedState: Sendable {
    private let state = Mutex<Backup.Database?>(nil)

    func set(_ database: Backup.Database) {
        state.withLock { $0 = database }
    }

    func get() -> Backup.Database? {
        state.withLock { $0 }
    }
}
