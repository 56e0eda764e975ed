package import DocumentModel
internal import DocumentStore
package import Logging
package import StorageIO
internal import Synchronization

/// A small record of a database in the engine, which all servers share.
package final class EngineRecord: AtomicRecord {
    /// The records of a database.
    package enum Name: String, Sendable {
        /// The API keys, of the default database only.
        case keys
        /// The security rules.
        case rules
        /// The security rules that later ones have replaced.
        case rulesHistory = "rules-history"
        /// The browser sessions, of the default database only.
        case sessions
        /// The jobs of the admin pages, of the default database only.
        case jobs
        /// The secret by which servers recognize what others have issued, of the default database only.
        case secret
        /// The times of commits that the engine has lost.
        case lostHistory = "lost-history"
    }

    private let id: Name
    private let database: Int64
    private let engine: Engine
    private let readCount = Atomic(0)

    init(_ id: Name, of database: Int64, in engine: Engine) {
        self.id = id
        self.database = database
        self.engine = engine
    }

    /// Calls `body` with a record of the default database, for a program that works beside the servers: it changes no tables that
    /// servers use, and takes no lease.
    ///
    /// - Throws: `.unavailable` when the engine cannot be reached; `.failedPrecondition` when it has tables of a version that this
    ///   program cannot use; the errors of `body`.
    package static func withRecord<Result>(
        _ id: Name,
        in configuration: PostgresConfiguration,
        logger: Logger,
        _ body: (EngineRecord) async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let engine = Engine(configuration, logger: logger)
        do throws(StatusError) {
            let database = try await engine.writes.write { connection throws(StatusError) in
                try EngineSchema.check(connection)
                return try DatabaseRow(DatabaseIdentity(), maximumCount: nil, connection).number
            }
            let result = try await body(EngineRecord(id, of: database, in: engine))
            await engine.close()
            return result
        } catch {
            await engine.close()
            throw error
        }
    }

    package var name: String { id.rawValue }

    package func version() async throws(StatusError) -> AtomicRecordVersion? {
        let (database, name) = (database, key)
        return try await engine.reads.read { connection throws(StatusError) in
            let rows = try connection.execute(
                EngineStatement(
                    "SELECT version FROM hearth.records WHERE db = $1::bigint AND name = $2::bytea AND contents IS NOT NULL",
                    .integer(database),
                    name
                )
            )
            return rows.count == 1 ? rows.integer(0, 0).map { .number($0) } : nil
        }
    }

    package func snapshot() async throws(StatusError) -> AtomicRecordSnapshot {
        try await engine.reads.read { [self] connection throws(StatusError) in try read(connection) }
    }

    package func update(
        _ change: @escaping @Sendable ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) async throws(StatusError) -> AtomicRecordSnapshot {
        var attempt = 0
        while true {
            attempt += 1
            do throws(StatusError) {
                return try await engine.writes.write { [self] connection throws(StatusError) in
                    try replace(connection, change)
                    return try read(connection)
                }
            } catch {
                guard error.engineError?.isConflict == true, attempt < Self.maximumAttempts else { throw error }
                await RetryPause.wait(after: attempt)
            }
        }
    }

    private static let maximumAttempts = 8

    private var key: EngineValue { .bytes(Array(id.rawValue.utf8)) }
}

extension EngineRecord {
    private func read(_ connection: EngineConnection) throws(StatusError) -> AtomicRecordSnapshot {
        // Before the read, which has all changes that earlier snapshots have.
        let number = readCount.add(1, ordering: .relaxed).newValue
        let rows = try connection.execute(
            EngineStatement(
                "SELECT version, contents FROM hearth.records WHERE db = $1::bigint AND name = $2::bytea",
                .integer(database),
                key
            )
        )
        guard rows.count == 1, let version = rows.integer(0, 0), let contents = rows.bytes(0, 1) else {
            return AtomicRecordSnapshot(bytes: nil, version: nil, number: number)
        }
        return AtomicRecordSnapshot(bytes: contents, version: .number(version), number: number)
    }

    /// Replaces the contents, in a transaction.
    private func replace(
        _ connection: EngineConnection,
        _ change: ([UInt8]?) throws(StatusError) -> [UInt8]?
    ) throws(StatusError) {
        let current = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            // A row to lock, which is not a record yet.
            EngineStatement(
                """
                INSERT INTO hearth.records (db, name, version) SELECT db, $2::bytea, 0 FROM hearth.databases
                WHERE db = $1::bigint AND name IS NOT NULL ON CONFLICT (db, name) DO NOTHING
                """,
                .integer(database),
                key
            ),
            EngineStatement(
                "SELECT contents FROM hearth.records WHERE db = $1::bigint AND name = $2::bytea FOR UPDATE",
                .integer(database),
                key
            ),
        ])[2]
        guard current.count == 1 else { throw .databaseDeleted }
        guard let bytes = try change(current.bytes(0, 0)) else { return connection.rollBack() }
        try connection.execute([
            EngineStatement(
                """
                UPDATE hearth.records SET version = GREATEST(version + 1, \(EngineClock.sql)), contents = $3::bytea
                WHERE db = $1::bigint AND name = $2::bytea
                """,
                .integer(database),
                key,
                .bytes(bytes)
            ),
            EngineStatement("COMMIT"),
        ])
    }
}
