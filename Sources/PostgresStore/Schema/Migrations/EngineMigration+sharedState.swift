internal import DocumentModel

extension EngineMigration {
    /// Version 3: what servers share beside documents, which are records, and the leases of the databases.
    static let sharedState = EngineMigration(version: 3, minimumVersion: 3) { connection throws(StatusError) in
        try connection.executeScript(
            """
            CREATE TABLE hearth.records (
                db BIGINT, name BYTEA, version BIGINT NOT NULL, contents BYTEA,
                PRIMARY KEY (db, name)
            );
            CREATE TABLE hearth.leases (
                db BIGINT PRIMARY KEY, holder BYTEA, term BIGINT NOT NULL, seen BIGINT NOT NULL
            );
            INSERT INTO hearth.leases (db, term, seen) SELECT db, 0, 0 FROM hearth.databases;
            ALTER TABLE hearth.commits ADD COLUMN term BIGINT NOT NULL DEFAULT 0;
            """
        )
    }
}
