internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

extension ServiceContext {
    /// The reason why the default database, or an open additional one, rejects writes or cannot run queries; `nil` if all are ready.
    ///
    /// Additional databases are neither opened nor kept open.
    package var unreadinessReason: String? {
        get async {
            if let reason = await store.unreadinessReason { return reason }
            for database in await databases?.openDatabases ?? [] {
                guard let reason = await database.store?.unreadinessReason else { continue }
                // A database that has been closed in the meantime is opened again when it is needed.
                if database.store != nil { return "The database \(Excerpt(database.id.description)) is not ready: \(reason)" }
            }
            return nil
        }
    }
}

extension DocumentStore {
    /// The reason why the store rejects writes or cannot run queries; `nil` if it is ready.
    fileprivate var unreadinessReason: String? {
        get async {
            if let reason = await writeBlockedReason { return reason.message }
            return await indexes().queryError?.message
        }
    }
}
