internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore

/// A database in the engine: its row in `databases`.
struct DatabaseRow: Sendable {
    /// The number, by which all its rows are found.
    let number: Int64
    /// The identity of its history.
    let epoch: Epoch

    /// Finds a database, or creates it; several servers may do so at the same time.
    ///
    /// - Parameter maximumCount: The maximum number of additional databases; `nil` for no limit.
    /// - Throws: `.resourceExhausted` when it does not exist and the maximum has been reached.
    init(
        _ identity: DatabaseIdentity,
        maximumCount: Int?,
        _ connection: EngineConnection
    ) throws(StatusError) {
        let name = Self.name(identity.id)
        if let known = try Self.find(name, connection) {
            self = known
            return
        }
        if let maximumCount, try Self.all(connection).count >= maximumCount {
            throw StatusError(
                .resourceExhausted,
                "The maximum number of databases, \(maximumCount), has been reached. Delete unused databases."
            )
        }
        // Random numbers, so that the databases' rows spread over an engine with ranges.
        let number = Int64.random(in: 1...Int64.max)
        try connection.execute([
            EngineStatement("BEGIN"),
            EngineStatement(
                """
                INSERT INTO hearth.databases (db, name, epoch, observed, oldest)
                VALUES ($1::bigint, $2::bytea, $3::bytea, 0, 1) ON CONFLICT (name) DO NOTHING
                """,
                .integer(number),
                .bytes(name),
                .bytes(identity.epoch.bytes)
            ),
            EngineStatement(
                """
                INSERT INTO hearth.scopes (db, id, key, documents, bytes, changed)
                SELECT db, 0, $2::bytea, 0, 0, 0 FROM hearth.databases WHERE db = $1::bigint
                """,
                .integer(number),
                .bytes([])
            ),
            EngineStatement("COMMIT"),
        ])
        guard let created = try Self.find(name, connection) else { throw .databaseDeleted }
        self = created
    }

    private init(number: Int64, epoch: Epoch) {
        self.number = number
        self.epoch = epoch
    }

    /// Returns the names of all additional databases.
    static func all(_ connection: EngineConnection) throws(StatusError) -> [String] {
        let rows = try connection.execute(
            EngineStatement("SELECT name FROM hearth.databases WHERE name IS NOT NULL AND name <> $1::bytea", .bytes([]))
        )
        return (0..<rows.count).compactMap { rows.text($0, 0) }
    }

    /// Finds a database by its name; `nil` if there is none.
    static func find(_ name: [UInt8], _ connection: EngineConnection) throws(StatusError) -> DatabaseRow? {
        let rows = try connection.execute(
            EngineStatement("SELECT db, epoch FROM hearth.databases WHERE name = $1::bytea", .bytes(name))
        )
        guard rows.count == 1 else { return nil }
        guard let number = rows.integer(0, 0), let epoch = rows.bytes(0, 1).flatMap({ Epoch(bytes: $0) }) else {
            throw .damagedRow("a database has no epoch")
        }
        return DatabaseRow(number: number, epoch: epoch)
    }

    /// Returns the name of a database in the table; empty for the default one.
    static func name(_ id: DatabaseID?) -> [UInt8] { Array((id?.description ?? "").utf8) }

    /// Returns the definitions of a database's indexes.
    ///
    /// - Parameter isLocking: True to keep the row from being changed until the end of the transaction.
    static func definitions(
        of number: Int64,
        isLocking: Bool,
        _ connection: EngineConnection
    ) throws(StatusError) -> IndexDefinitions {
        let rows = try connection.execute(
            EngineStatement(
                "SELECT indexes FROM hearth.databases WHERE db = $1::bigint AND name IS NOT NULL"
                    + (isLocking ? " FOR UPDATE" : ""),
                .integer(number)
            )
        )
        guard rows.count == 1 else { throw .databaseDeleted }
        return try rows.bytes(0, 0).map { bytes throws(StatusError) in try IndexDefinitions(bytes) } ?? IndexDefinitions()
    }
}
