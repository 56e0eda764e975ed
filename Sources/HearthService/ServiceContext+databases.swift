package import DocumentModel
import DocumentStore
import StrictJSON

extension ServiceContext {
    /// The name of the database that calls are in which name none.
    package var defaultDatabase: DatabaseID {
        databases?.defaultID ?? .standard
    }

    /// The name of the database that the calls are in.
    package var databaseName: DatabaseID {
        database ?? defaultDatabase
    }

    /// The context of the same caller's calls in a database, for as long as the context is held. It is made of the default
    /// database's.
    ///
    /// A database that does not exist is empty, and is made by the first write.
    ///
    /// - Throws: ``StatusCode/permissionDenied`` when the caller's key is for some collections, which are those of the default
    ///   database; ``StatusCode/resourceExhausted`` when too many databases are in use; why it can't be opened.
    package func inDatabase(_ id: DatabaseID) async throws(StatusError) -> ServiceContext {
        if id == databaseName { return self }
        guard let databases else {
            throw StatusError(
                .notFound,
                "There is no database \(Excerpt(id.description)) here. This server has one, which is called "
                    + "\(defaultDatabase.database); leave the parameter out, or give the address of the server that has the other."
            )
        }
        guard caller.collections == nil else {
            throw StatusError(
                .permissionDenied,
                "The key is for some collections of the default database only, not for the database \(Excerpt(id.description)). Use "
                    + "a key for all."
            )
        }
        return using(try await databases.use(id))
    }

    /// The context of the same caller's calls in the database of a name.
    ///
    /// - Parameter name: `project/database`, the database alone in the server's own project, or the epoch of the default one.
    /// - Throws: ``StatusCode/invalidArgument`` when it can't be a name; as ``inDatabase(_:)``.
    package func inDatabase(named name: String) async throws(StatusError) -> ServiceContext {
        let id = try DatabaseID(name, inProject: defaultDatabase.project)
        guard id != databaseName, UTF8Key(name) != UTF8Key(store.position.epoch) else { return self }
        return try await inDatabase(id)
    }
}
