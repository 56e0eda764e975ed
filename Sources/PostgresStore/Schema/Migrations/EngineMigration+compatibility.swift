internal import DocumentModel

extension EngineMigration {
    /// Version 5: `format` has the lowest version that servers must know. Servers of version 4 compare versions for equality, so they
    /// cannot go on.
    static let compatibility = EngineMigration(version: 5, minimumVersion: 5) { connection throws(StatusError) in
        try connection.executeScript("INSERT INTO hearth.format (id, version) VALUES (2, 5)")
    }
}
