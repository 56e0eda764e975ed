internal import DocumentModel

/// The tables in the engine, in a schema of their own.
///
/// All keys are bytes, which every engine compares as unsigned bytes, so that no collation has an effect. All begin with the number of
/// a database.
///
/// - `format`: one row with the version of the tables.
/// - `databases`: the databases by number. `name` is empty for the default one, and null for a deleted one, whose rows are removed
///   later. `epoch` is the identity of its history; `observed` the latest time that a point-in-time read has used, after which all
///   later commits are; `oldest` the oldest retained commit; `indexes` the definitions of indexes. **Every commit locks the row**, which
///   puts the commits of all servers into one order, and hardly ever changes it.
/// - `commits`: the log of commits. Sequence numbers are dense. `token` identifies the transaction of the engine that made it.
/// - `changes`: what each commit changed, with the documents before and after it. `name` is the key of the path (``EngineKey``). They
///   also serve the history of a document and reads as of a time.
/// - `documents`: the current documents, with their scopes.
/// - `scopes`: the collections, the collection groups and the database as a whole (0), with the number and size of their documents
///   and the last commit that changed one.
/// - `clients`: the receipts of the clients that identify their commits.
enum EngineSchema {
    /// The version of the tables.
    static let version: Int64 = 1

    /// The statements that create the tables.
    static let statements = """
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

    /// The tables with rows of a database, except `databases`, and the columns that identify such a row.
    static let tablesOfDatabase = [
        ("changes", "seq, n"), ("documents", "name"), ("scopes", "id"), ("clients", "client"), ("commits", "seq"),
    ]
}

extension EngineSchema {
    /// Returns the version of the tables; 0 if there are none.
    static func storedVersion(_ connection: EngineConnection) throws(StatusError) -> Int64 {
        do throws(StatusError) {
            return try connection.execute(EngineStatement("SELECT version FROM hearth.format WHERE id = 1")).integer(0, 0) ?? 0
        } catch {
            // Neither the schema nor the table.
            guard case .statement("3F000", _) = error.engineError else {
                guard case .statement("42P01", _) = error.engineError else { throw error }
                return 0
            }
            return 0
        }
    }

    /// Checks that the tables have the version of this server, and makes them in an engine without any.
    ///
    /// - Throws: `.failedPrecondition` for another version, with what to do.
    static func prepare(_ connection: EngineConnection) throws(StatusError) {
        switch try storedVersion(connection) {
        case 0: _ = try migrate(connection)
        case version: break
        case let stored where stored < version:
            throw StatusError(
                .failedPrecondition,
                "The engine's tables have version \(stored), and this server needs version \(version). Stop all older servers, make a "
                    + "backup of the engine, and run: hearth engine migrate"
            )
        case let stored:
            throw StatusError(
                .failedPrecondition,
                "The engine's tables have version \(stored), made by a newer server; this one knows version \(version). Use the newer "
                    + "release of Hearth."
            )
        }
    }

    /// Makes the tables, or brings them to the version of this server, in one transaction that other servers wait for.
    ///
    /// - Returns: The version before; 0 if there were no tables.
    static func migrate(_ connection: EngineConnection) throws(StatusError) -> Int64 {
        // Two servers that make the schema at the same time would collide. One of them fails, and finds what the other one made.
        for _ in 0..<maximumAttempts {
            do throws(StatusError) {
                try connection.executeScript(
                    """
                    CREATE SCHEMA IF NOT EXISTS hearth;
                    CREATE TABLE IF NOT EXISTS hearth.format (id BIGINT PRIMARY KEY, version BIGINT NOT NULL);
                    INSERT INTO hearth.format (id, version) VALUES (1, 0) ON CONFLICT (id) DO NOTHING;
                    """
                )
                break
            } catch {
                guard case .statement(let code, _) = error.engineError, ["23505", "42P06", "42P07", "40001"].contains(code) else {
                    throw error
                }
            }
        }
        let locked = try connection.execute([
            EngineStatement("BEGIN"), EngineStatement("SELECT version FROM hearth.format WHERE id = 1 FOR UPDATE"),
        ])
        let stored = locked[1].integer(0, 0) ?? 0
        guard stored <= version else {
            throw StatusError(
                .failedPrecondition,
                "The engine's tables have version \(stored), made by a newer server. Use its release."
            )
        }
        if stored == 0 { try connection.executeScript(statements) }
        try connection.execute([
            EngineStatement("UPDATE hearth.format SET version = $1::bigint WHERE id = 1", .integer(version)),
            EngineStatement("COMMIT"),
        ])
        return stored
    }

    private static let maximumAttempts = 5
}
