internal import DocumentModel

/// The tables in the engine, in a schema of their own.
///
/// All keys are bytes, which every engine compares as unsigned bytes, so that no collation has an effect. All begin with the number of
/// a database.
///
/// - `format`: the version of the tables in row 1, and in row 2 the lowest version that a server must know to use them
///   (``EngineMigration/minimumVersion``).
/// - `databases`: the databases by number. `name` is empty for the default one, and null for a deleted one, whose rows are removed
///   later. `epoch` is the identity of its history; `observed` the latest time that a point-in-time read has used, after which all
///   later commits are; `oldest` the oldest retained commit; `indexes` the definitions of indexes, and `builds` the progress of the
///   index (``IndexProgress``); `seed` the secret of its ``FieldIDs``. **Every commit locks the row**, which puts the commits of all
///   servers into one order, and hardly ever changes it.
/// - `commits`: the log of commits. Sequence numbers are dense. `token` identifies the transaction of the engine that made it. `format` is
///   the version of the tables that its server knew; it has no default, so that servers of version 1, which do not write entries,
///   cannot commit.
/// - `changes`: what each commit changed, with the documents before and after it. `name` is the key of the path (``EngineKey``). They
///   also serve the history of a document and reads as of a time.
/// - `documents`: the current documents, with their scopes.
/// - `scopes`: the collections, the collection groups and the database as a whole (0), with the number and size of their documents
///   and the last commit that changed one. Those without documents are removed with the last commit that changed one.
/// - `entries`: the index, ordered by (scope, slot, value, name). A slot is a field and the kind of the entry: its value, an element of an
///   array (``IndexEntries``), a composite index, or the cell of a geo point (``GeoCell``). The value is a ``ValueKey``, a
///   ``CompositeKey`` or a cell. The name is the ``NameKey`` of the document's ID in a collection, and of its path in the group of
///   nested collections with one ID, cut as ``EngineKey/entryName(_:)`` says; then `long_name` is whole. `is_double` tells 1.0 from 1. A
///   vector is in `vector`, in single precision, after a byte that is 1 if that is exact.
/// - `clients`: the receipts of the clients that identify their commits.
/// - `records`: what servers have in small files with a data folder (``EngineRecord``), by name.
/// - `leases`: which server has the lease of a database, its term and its address for other servers (``LeaseKeeper``). `term` of a commit is
///   that at the time of the commit, for whoever looks into a fail-over.
enum EngineSchema {
    /// The version of the tables.
    static let version = EngineMigration.all.last?.version ?? 0
    /// The lowest version that a server must know to use tables of this version.
    private static let minimumVersion = EngineMigration.all.map(\.minimumVersion).max() ?? 0

    /// The versions of tables that exist.
    struct Versions {
        /// The version of the tables; 0 if there are none.
        let current: Int64
        /// The lowest version that a server must know.
        let minimum: Int64

        /// - Parameter minimum: `nil` for tables of a version before 5, which do not tell.
        init(current: Int64, minimum: Int64?) {
            (self.current, self.minimum) = (current, minimum ?? current)
        }

        /// True if a newer server has changed the tables, and this one can no longer use them.
        fileprivate var areTooNew: Bool { minimum > EngineSchema.version }

        /// Returns the error of a server that was started with other tables and cannot use these; `nil` if it can. A client may repeat
        /// its call.
        var unusable: StatusError? {
            guard areTooNew || current < EngineSchema.version else { return nil }
            return StatusError(
                .unavailable,
                "The engine's tables have version \(current) now, for servers that know version \(minimum) or later; this server was "
                    + "started with version \(EngineSchema.version), and makes no commits. Restart it, with the release of Hearth that the "
                    + "other servers have, then try again."
            )
        }
    }

    /// The tables with rows of a database, except `databases`, and the columns that identify such a row.
    static let tablesOfDatabase = [
        ("changes", "seq, n"), ("documents", "name"), ("scopes", "id"), ("clients", "client"), ("commits", "seq"),
        ("entries", "scope, slot, value, name"), ("records", "name"), ("leases", "db"),
    ]
}

extension EngineSchema {
    /// Reads the versions of the tables.
    static func versions(_ connection: EngineConnection) throws(StatusError) -> Versions {
        do throws(StatusError) {
            let rows = try connection.execute(EngineStatement("SELECT version FROM hearth.format ORDER BY id"))
            return Versions(
                current: rows.count > 0 ? rows.integer(0, 0) ?? 0 : 0,
                minimum: rows.count > 1 ? rows.integer(1, 0) : nil
            )
        } catch {
            // Neither the schema nor the table.
            guard case .statement(let code, _) = error.engineError, ["3F000", "42P01"].contains(code) else { throw error }
            return Versions(current: 0, minimum: nil)
        }
    }

    /// Checks that this server can use the tables, before it changes what is not part of a commit.
    ///
    /// - Throws: `.unavailable` if a newer server has changed them, or an older state was restored.
    static func requireUsable(_ connection: EngineConnection) throws(StatusError) {
        if let unusable = try versions(connection).unusable { throw unusable }
    }

    /// Makes the tables in an engine without any, and brings those of an older server to the version of this one.
    ///
    /// - Throws: `.failedPrecondition` for tables of a newer server that this one cannot use, with what to do.
    static func prepare(_ connection: EngineConnection) throws(StatusError) {
        let stored = try versions(connection)
        guard !stored.areTooNew else { throw tooNew(stored) }
        if stored.current < version { _ = try migrate(connection) }
    }

    /// Makes the tables in an engine without any, for a program that works beside the servers. It changes no tables that servers use.
    ///
    /// - Throws: `.failedPrecondition` for tables of an older server, and of a newer one that this program cannot use, with what to do.
    static func check(_ connection: EngineConnection) throws(StatusError) {
        let stored = try versions(connection)
        guard !stored.areTooNew else { throw tooNew(stored) }
        if stored.current == 0 {
            _ = try migrate(connection)
        } else if stored.current < version {
            throw StatusError(
                .failedPrecondition,
                "The engine's tables have version \(stored.current), made by an older server; this program knows version \(version). "
                    + "Use the release of Hearth that the servers have, or bring the tables to this version with: hearth engine migrate"
            )
        }
    }

    private static func tooNew(_ stored: Versions) -> StatusError {
        StatusError(
            .failedPrecondition,
            "The engine's tables have version \(stored.current), made by a newer server, and need servers that know version "
                + "\(stored.minimum) of them; this one knows version \(version). Use the newer release of Hearth."
        )
    }

    /// Makes the tables, or brings them to the version of this server, in one transaction that other servers wait for.
    ///
    /// - Returns: The version before; 0 if there were no tables. Tables of a newer server that this one can use keep their version.
    /// - Throws: `.failedPrecondition` for those that it cannot use.
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
        var attempt = 0
        while true {
            attempt += 1
            do throws(StatusError) {
                return try migrateTables(connection)
            } catch {
                guard error.engineError?.isConflict == true, attempt < maximumAttempts else { throw error }
            }
        }
    }

    private static func migrateTables(_ connection: EngineConnection) throws(StatusError) -> Int64 {
        try connection.execute([
            EngineStatement("BEGIN"), EngineStatement("SELECT version FROM hearth.format WHERE id = 1 FOR UPDATE"),
        ])
        let stored = try versions(connection)
        guard !stored.areTooNew else { throw tooNew(stored) }
        guard stored.current < version else {
            connection.rollBack()
            return stored.current
        }
        for migration in EngineMigration.all where migration.version > stored.current { try migration.run(connection) }
        try connection.execute([
            EngineStatement("UPDATE hearth.format SET version = $1::bigint WHERE id = 1", .integer(version)),
            EngineStatement("UPDATE hearth.format SET version = $1::bigint WHERE id = 2", .integer(minimumVersion)),
            EngineStatement("COMMIT"),
        ])
        return stored.current
    }

    private static let maximumAttempts = 5
}
