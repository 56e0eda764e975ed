internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

extension DatabaseIdentity {
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
