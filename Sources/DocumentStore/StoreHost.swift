package import DocumentModel

/// The databases that a driver stores: a default one, which is always open, and additional ones, which are opened and closed as
/// needed.
///
/// A server has one host. All layers above the driver know stores only through this protocol and ``DocumentStore``.
package protocol StoreHost: Sendable {
    /// The store of the default database, open until ``close()``.
    var defaultStore: any DocumentStore { get }

    /// Returns all additional databases in the order of their names, including damaged ones.
    func databases() async throws(StatusError) -> [DatabaseID]

    /// Returns the epochs of all additional databases, which other processes create and delete, too; `nil` if no other process does.
    func sharedDatabases() async throws(StatusError) -> [DatabaseID: String]?

    /// Returns whether an additional database exists, including a damaged one.
    func contains(_ id: DatabaseID) async throws(StatusError) -> Bool

    /// Opens an additional database that is not open, creating it if needed.
    ///
    /// - Parameter identity: The database, and its epoch if it is created: the store has another one if the database existed, also if
    ///   another process created it at the same time.
    /// - Throws: `.resourceExhausted` when it does not exist and the maximum number of databases has been reached; the driver's
    ///   errors when it cannot be opened.
    func open(_ identity: DatabaseIdentity) async throws(StatusError) -> any ClosableStore

    /// Deletes an additional database that is not open, atomically and durably. Has no effect if it does not exist.
    ///
    /// ``purgeDeletedDatabases()`` frees its space.
    func delete(_ id: DatabaseID) async throws(StatusError)

    /// Frees the space of deleted databases, which can take a long time. Does not delay other calls.
    ///
    /// - Throws: The first error, after everything else has been freed.
    func purgeDeletedDatabases() async throws(StatusError)

    /// Stops ``purgeDeletedDatabases()`` soon. The purge continues after the next start of the server.
    func stopPurging()

    /// The backups of the databases; `nil` if the driver makes none, or has no folder for them.
    var backups: (any BackupStore)? { get }

    /// The replication of the databases; `nil` if the driver does not replicate.
    var replication: (any HostReplication)? { get }

    /// The state of the connections to an engine; `nil` for databases on a disk of this machine. Does not wait for the engine.
    var engineStatus: EngineStatus? { get }

    /// Closes the default database, after all others have been closed.
    ///
    /// - Returns: The error when the database is not closed cleanly; `nil` on success.
    @discardableResult
    func close() async -> StatusError?
}

extension StoreHost {
    package func sharedDatabases() async throws(StatusError) -> [DatabaseID: String]? { nil }

    package var backups: (any BackupStore)? { nil }

    package var replication: (any HostReplication)? { nil }

    package var engineStatus: EngineStatus? { nil }
}

/// A store that its owner closes.
package protocol ClosableStore: DocumentStore, AnyObject {
    /// Closes the store: rejects new commits, completes the accepted ones, and ends all commit sequences. Reads remain possible.
    ///
    /// - Returns: The error when the store is not closed cleanly; `nil` on success.
    @discardableResult
    func close() async -> StatusError?
}
