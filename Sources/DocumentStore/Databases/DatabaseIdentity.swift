package import DocumentModel

/// Which database a folder is, or becomes when it is made.
package struct DatabaseIdentity: Sendable {
    /// Its name; nil for the default database of a data folder.
    package let id: DatabaseID?
    /// The history that it begins with, where it is new.
    let epoch: Epoch

    /// The default database of a data folder.
    package init() {
        self.init(nil)
    }

    /// A database of that name, with a new history.
    package init(_ id: DatabaseID?) {
        self.id = id
        epoch = .random()
    }

    /// Where the log of commits stands before the database is made.
    package var position: StorePosition {
        StorePosition(
            database: id,
            epoch: epoch.description,
            lastSequence: .zero,
            lastCommitTime: nil,
            oldestKept: SequenceNumber.zero.next
        )
    }

    /// Makes sure that a folder is this database's.
    ///
    /// - Throws: `.failedPrecondition` when it says to be another's.
    func check(_ description: DatabaseDescription) throws(StatusError) {
        guard description.database != id else { return }
        let found = description.database.map { "the database \(Excerpt($0.description))" } ?? "the default database"
        let expected = id.map { "of \(Excerpt($0.description))" } ?? "of the default one"
        throw StatusError(
            .failedPrecondition,
            "The folder is that of \(found), by its \(DataFolder.descriptionName), and stands in the place \(expected). Put it "
                + "back where it was; to copy a database, export its documents and import them into the other one."
        )
    }
}
