internal import DocumentModel

extension EngineMigration {
    /// Version 1: databases, commits, documents, scopes and clients.
    static let tables = EngineMigration(version: 1, minimumVersion: 1) { connection throws(StatusError) in
        try connection.executeScript(statements)
    }

    /// The statements that create them.
    private static let statements = """
        CREATE TABLE hearth.databases (
            db BIGINT PRIMARY KEY, name BYTEA UNIQUE, epoch BYTEA NOT NULL, observed BIGINT NOT NULL, oldest BIGINT NOT NULL,
            quota_documents BIGINT, quota_bytes BIGINT, indexes BYTEA
        );
        CREATE TABLE hearth.commits (
            db BIGINT, seq BIGINT, time BIGINT NOT NULL, author BYTEA, token BYTEA NOT NULL, bytes BIGINT NOT NULL,
            PRIMARY KEY (db, seq)
        );
        CREATE INDEX commits_time ON hearth.commits (db, time);
        CREATE TABLE hearth.changes (
            db BIGINT, seq BIGINT, n BIGINT, name BYTEA NOT NULL, path BYTEA NOT NULL,
            collection BIGINT NOT NULL, collection_group BIGINT NOT NULL,
            before_fields BYTEA, before_created BIGINT, before_updated BIGINT, after_fields BYTEA, after_created BIGINT,
            PRIMARY KEY (db, seq, n)
        );
        CREATE INDEX changes_name ON hearth.changes (db, name, seq);
        CREATE TABLE hearth.documents (
            db BIGINT, name BYTEA, path BYTEA NOT NULL, collection BIGINT NOT NULL, collection_group BIGINT NOT NULL,
            fields BYTEA NOT NULL, created BIGINT NOT NULL, updated BIGINT NOT NULL,
            PRIMARY KEY (db, name)
        );
        CREATE INDEX documents_collection ON hearth.documents (db, collection, name);
        CREATE INDEX documents_group ON hearth.documents (db, collection_group, name);
        CREATE TABLE hearth.scopes (
            db BIGINT, id BIGINT, key BYTEA NOT NULL, documents BIGINT NOT NULL, bytes BIGINT NOT NULL, changed BIGINT NOT NULL,
            PRIMARY KEY (db, id)
        );
        CREATE UNIQUE INDEX scopes_key ON hearth.scopes (db, key);
        CREATE TABLE hearth.clients (
            db BIGINT, client BYTEA, last BIGINT NOT NULL, last_use BIGINT NOT NULL, receipts BYTEA NOT NULL,
            PRIMARY KEY (db, client)
        );
        """
}
