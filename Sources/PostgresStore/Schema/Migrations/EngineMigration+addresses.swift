internal import DocumentModel

extension EngineMigration {
    /// Version 4: the addresses of the servers that have the leases, for those that forward commits to them.
    static let addresses = EngineMigration(version: 4, minimumVersion: 4) { connection throws(StatusError) in
        try connection.executeScript("ALTER TABLE hearth.leases ADD COLUMN address BYTEA")
    }
}
