package import DocumentModel

/// The identity of a database: its ID, and the epoch that it begins with when it is created.
package struct DatabaseIdentity: Sendable {
    /// The ID; nil for the default database of a data folder.
    package let id: DatabaseID?
    /// The epoch of a new database.
    let epoch: Epoch

    /// Creates the identity of a default database.
    package init() {
        self.init(nil)
    }

    /// Creates the identity of a database, with a new epoch.
    package init(_ id: DatabaseID?) {
        self.id = id
        epoch = .random()
    }

    /// The position of the commit log before the database is created.
    package var position: StorePosition {
        StorePosition(
            database: id,
            epoch: epoch.description,
            lastSequence: .zero,
            lastCommitTime: nil,
            oldestRetained: SequenceNumber.zero.next
        )
    }

    /// Checks that a manifest is this database's.
    ///
    /// - Throws: `.failedPrecondition` when it names another database.
    func check(_ manifest: DataFolderManifest) throws(StatusError) {
        guard manifest.database != id else { return }
        let found = manifest.database.map { "database \(Excerpt($0.description))" } ?? "the default database"
        let expected = id.map { Excerpt($0.description).description } ?? "the default database"
        throw StatusError(
            .failedPrecondition,
            "The folder of \(expected) contains \(found), according to its \(DataFolder.manifestName). Move it back to where it "
                + "was. To copy a database, export its documents and import them into the other one."
        )
    }
}
