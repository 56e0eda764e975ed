package import DocumentModel
import DocumentStore
import UTF8Text

extension ServiceContext {
    /// The default database, which is selected unless a call names another one.
    package var defaultDatabase: DatabaseID {
        databases?.defaultID ?? .standard
    }

    /// The selected database.
    package var databaseName: DatabaseID {
        database ?? defaultDatabase
    }

    /// Returns a context for another database, with the same caller. The context keeps the database open. The receiver must be a
    /// context of the default database.
    ///
    /// A database that does not exist reads as empty and is created by the first write.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` if the caller's key is restricted to collections, which are always those of the
    ///   default database, or for an end user if the database does not exist or accepts no tokens of the issuer;
    ///   ``StatusCode/resourceExhausted`` if too many databases are in use; the store's error if the database cannot be opened.
    package func inDatabase(_ id: DatabaseID) async throws(StatusError) -> ServiceContext {
        if id == databaseName { return self }
        guard let databases else {
            throw StatusError(
                .notFound,
                "No database \(Excerpt(id.description)) exists on this server, which has only the database "
                    + "\(defaultDatabase.database). Omit the parameter, or connect to the server of the other database."
            )
        }
        guard caller.collections == nil else {
            throw StatusError(
                .permissionDenied,
                "The key is restricted to collections of the default database and does not give access to the database "
                    + "\(Excerpt(id.description)). Use an unrestricted key."
            )
        }
        // Before the database is opened, which may close another one.
        guard caller.user?.isAccepted(for: id) ?? true else { throw .deniedByRules }
        let lease = try await databases.lease(id)
        // Its first write would create it, and the rules of the server may allow one in a database of any name.
        guard !caller.isEndUser || rulesRegistry.isEmulator || lease.exists else { throw .deniedByRules }
        return using(lease)
    }

    /// Creates the selected database if it does not exist, as its first write does.
    func createDatabaseIfNeeded() async throws(StatusError) {
        try await (store as? DatabaseLease)?.createIfNeeded()
    }

    /// Returns a context for the database with the given name, with the same caller.
    ///
    /// - Parameter name: `project/database`, the database ID alone within the server's default project, or the epoch of the
    ///   default database.
    /// - Throws: ``StatusCode/invalidArgument`` if the name is invalid; the errors of ``inDatabase(_:)``.
    package func inDatabase(named name: String) async throws(StatusError) -> ServiceContext {
        let id = try DatabaseID(name, inProject: defaultDatabase.project)
        guard id != databaseName, UTF8Key(name) != UTF8Key(store.position.epoch) else { return self }
        return try await inDatabase(id)
    }
}
