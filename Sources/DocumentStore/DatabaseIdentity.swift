package import DocumentModel

/// The identity of a database: its ID, and the epoch that it begins with when it is created.
package struct DatabaseIdentity: Sendable {
    /// The ID; `nil` for the default database of a data folder.
    package let id: DatabaseID?
    /// The epoch of a new database.
    package let epoch: Epoch

    /// Creates the identity of a default database.
    package init() {
        self.init(nil)
    }

    /// Creates the identity of a database, with a new epoch.
    package init(_ id: DatabaseID?) {
        self.id = id
        epoch = .random()
    }

    /// The position in the commit log before the database is created.
    package var position: StorePosition {
        StorePosition(
            database: id,
            epoch: epoch.description,
            lastSequence: .zero,
            lastCommitTime: nil,
            oldestRetained: SequenceNumber.zero.next
        )
    }
}
