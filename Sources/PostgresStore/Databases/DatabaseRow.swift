internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

/// A database in the engine: its row in `databases`.
struct DatabaseRow: Sendable {
    /// The number, by which all its rows are found.
    let number: Int64
    /// The identity of its history.
    let epoch: Epoch
    /// The seed of the IDs of its fields.
    let seed: [UInt8]
    /// True if the index has all entries.
    let isIndexed: Bool

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
        try EngineSchema.requireUsable(connection)
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
                INSERT INTO hearth.databases (db, name, epoch, seed, observed, oldest)
                VALUES ($1::bigint, $2::bytea, $3::bytea, $4::bytea, 0, 1) ON CONFLICT (name) DO NOTHING
                """,
                .integer(number),
                .bytes(name),
                .bytes(identity.epoch.bytes),
                .bytes(Self.makeSeed())
            ),
            EngineStatement(
                """
                INSERT INTO hearth.scopes (db, id, key, documents, bytes, changed)
                SELECT db, 0, $2::bytea, 0, 0, 0 FROM hearth.databases WHERE db = $1::bigint
                """,
                .integer(number),
                .bytes([])
            ),
            EngineStatement(
                """
                INSERT INTO hearth.leases (db, term, seen) SELECT db, 0, 0 FROM hearth.databases WHERE db = $1::bigint
                """,
                .integer(number)
            ),
            EngineStatement("COMMIT"),
        ])
        guard let created = try Self.find(name, connection) else { throw .databaseDeleted }
        self = created
    }

    /// Returns a new seed.
    static func makeSeed() -> [UInt8] { RandomBytes.make(16) }

    /// Returns all additional databases by name.
    static func all(_ connection: EngineConnection) throws(StatusError) -> [String: DatabaseRow] {
        let rows = try connection.execute(
            EngineStatement(
                "SELECT db, epoch, seed, builds, name FROM hearth.databases WHERE name IS NOT NULL AND name <> $1::bytea",
                .bytes([])
            )
        )
        var all: [String: DatabaseRow] = [:]
        for row in 0..<rows.count { all[rows.text(row, 4) ?? ""] = try DatabaseRow(rows, row) }
        return all
    }

    /// Returns the databases whose index is not complete.
    static func unindexed(_ connection: EngineConnection) throws(StatusError) -> [DatabaseRow] {
        let rows = try connection.execute(
            EngineStatement("SELECT db, epoch, seed, builds FROM hearth.databases WHERE name IS NOT NULL AND builds IS NOT NULL")
        )
        return try (0..<rows.count).map { row throws(StatusError) in try DatabaseRow(rows, row) }
    }

    private init(_ rows: EngineRows, _ row: Int) throws(StatusError) {
        guard let number = rows.integer(row, 0), let epoch = rows.bytes(row, 1).flatMap({ Epoch(bytes: $0) }),
            let seed = rows.bytes(row, 2)
        else { throw .damagedRow("a database has no epoch or seed") }
        self.number = number
        self.epoch = epoch
        self.seed = seed
        isIndexed = try IndexProgress(rows.bytes(row, 3)).isComplete
    }

    /// Finds a database by its name; `nil` if there is none.
    static func find(_ name: [UInt8], _ connection: EngineConnection) throws(StatusError) -> DatabaseRow? {
        let rows = try connection.execute(
            EngineStatement("SELECT db, epoch, seed, builds FROM hearth.databases WHERE name = $1::bytea", .bytes(name))
        )
        return rows.count == 1 ? try DatabaseRow(rows, 0) : nil
    }

    /// Returns the name of a database in the table; empty for the default one.
    static func name(_ id: DatabaseID?) -> [UInt8] { Array((id?.description ?? "").utf8) }

    /// Returns the definitions of a database's indexes, with the progress of the index.
    ///
    /// - Parameter isLocking: True to keep the row from being changed until the end of the transaction, which changes it.
    /// - Throws: `.unavailable` for one that changes it when this server cannot use the tables.
    static func definitions(
        of number: Int64,
        isLocking: Bool,
        _ connection: EngineConnection
    ) throws(StatusError) -> (definitions: IndexDefinitions, progress: IndexProgress) {
        let rows = try connection.execute(
            EngineStatement(
                "SELECT indexes, builds FROM hearth.databases WHERE db = $1::bigint AND name IS NOT NULL"
                    + (isLocking ? " FOR UPDATE" : ""),
                .integer(number)
            )
        )
        guard rows.count == 1 else { throw .databaseDeleted }
        if isLocking { try EngineSchema.requireUsable(connection) }
        let definitions =
            try rows.bytes(0, 0).map { bytes throws(StatusError) in try IndexDefinitions(bytes) } ?? IndexDefinitions()
        return (definitions, try IndexProgress(rows.bytes(0, 1)))
    }
}
