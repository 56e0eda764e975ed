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

    /// Returns whether an additional database exists, including a damaged one.
    func contains(_ id: DatabaseID) async throws(StatusError) -> Bool

    /// Opens an additional database that is not open, creating it if needed.
    ///
    /// - Parameter identity: The database, and its epoch if it is created.
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

    /// Closes the default database, after all others have been closed.
    ///
    /// - Returns: The error when the database is not closed cleanly; `nil` on success.
    @discardableResult
    func close() async -> StatusError?
}

extension StoreHost {
    package var backups: (any BackupStore)? { nil }

    package var replication: (any HostReplication)? { nil }
}

/// A store that its owner closes.
package protocol ClosableStore: DocumentStore, AnyObject {
    /// Closes the store: rejects new commits, completes the accepted ones, and ends all commit sequences. Reads remain possible.
    ///
    /// - Returns: The error when the store is not closed cleanly; `nil` on success.
    @discardableResult
    func close() async -> StatusError?
}
