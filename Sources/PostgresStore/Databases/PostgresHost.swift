package import DocumentModel
package import DocumentStore
package import Logging
internal import Synchronization
internal import UTF8Text

/// The databases in an engine that speaks the protocol of PostgreSQL. Several servers may share an engine.
package final class PostgresHost: StoreHost {
    private let engine: Engine
    private let tailer: CommitTailer
    /// The store of the default database.
    let store: PostgresStore
    private let isPurgeStopped = Atomic(false)

    /// The maximum number of additional databases.
    private static let maximumCount = 1_000

    private init(_ engine: Engine, _ tailer: CommitTailer, _ store: PostgresStore) {
        self.engine = engine
        self.tailer = tailer
        self.store = store
    }

    /// Connects to an engine, makes Hearth's tables if there are none, and opens the default database, creating it if needed.
    ///
    /// - Throws: `.unavailable` when the engine cannot be reached; `.failedPrecondition` when its tables have another version, or the
    ///   user has not the rights.
    package static func open(
        _ configuration: PostgresConfiguration,
        logger: Logger
    ) async throws(StatusError) -> PostgresHost {
        let engine = Engine(configuration, logger: logger)
        let tailer = CommitTailer(engine)
        do throws(StatusError) {
            try await engine.writes.write { connection throws(StatusError) in try EngineSchema.prepare(connection) }
            let store = try await open(DatabaseIdentity(), maximumCount: nil, engine, tailer)
            return PostgresHost(engine, tailer, store)
        } catch {
            await tailer.close()
            await engine.close()
            throw error
        }
    }

    /// Makes Hearth's tables in an engine, or brings them to the version of this program.
    ///
    /// - Returns: The versions before and after; 0 if there were no tables.
    /// - Throws: The errors of ``open(_:logger:)``.
    package static func migrate(
        _ configuration: PostgresConfiguration,
        logger: Logger
    ) async throws(StatusError) -> (from: Int64, to: Int64) {
        let engine = Engine(configuration, logger: logger)
        let result = await Result<Int64, StatusError>.catching { () async throws(StatusError) in
            try await engine.writes.write { connection throws(StatusError) in try EngineSchema.migrate(connection) }
        }
        await engine.close()
        return (try result.get(), EngineSchema.version)
    }

    package var defaultStore: any DocumentStore { store }

    package func databases() async throws(StatusError) -> [DatabaseID] {
        let names = try await engine.reads.read { connection throws(StatusError) in try DatabaseRow.all(connection) }
        var ids: [DatabaseID] = []
        for name in names {
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .damagedRow("a database has an invalid name") }
            ids.append(try DatabaseID(project: UTF8Key(parts[0]), database: UTF8Key(parts[1])))
        }
        return ids.sorted()
    }

    package func contains(_ id: DatabaseID) async throws(StatusError) -> Bool {
        try await engine.reads.read { connection throws(StatusError) in
            try DatabaseRow.find(DatabaseRow.name(id), connection) != nil
        }
    }

    package func open(_ identity: DatabaseIdentity) async throws(StatusError) -> any ClosableStore {
        try await Self.open(identity, maximumCount: Self.maximumCount, engine, tailer)
    }

    private static func open(
        _ identity: DatabaseIdentity,
        maximumCount: Int?,
        _ engine: Engine,
        _ tailer: CommitTailer
    ) async throws(StatusError) -> PostgresStore {
        let (row, log) = try await engine.writes.write { connection throws(StatusError) in
            let row = try DatabaseRow(identity, maximumCount: maximumCount, connection)
            return (row, try LogPosition(connection, row.number))
        }
        let position = StorePosition(
            database: identity.id,
            epoch: row.epoch.description,
            lastSequence: log.last,
            lastCommitTime: log.time,
            oldestRetained: log.oldest
        )
        return PostgresStore(row, at: position, engine, tailer)
    }

    package func delete(_ id: DatabaseID) async throws(StatusError) {
        try await engine.writes.write { connection throws(StatusError) in
            // Waits for the commit in progress. Later ones find no database.
            try connection.execute(
                EngineStatement("UPDATE hearth.databases SET name = NULL WHERE name = $1::bytea", .bytes(DatabaseRow.name(id)))
            )
            return
        }
    }

    package func purgeDeletedDatabases() async throws(StatusError) {
        while !isPurgeStopped.load(ordering: .relaxed) {
            let removedCount = try await engine.writes.write { connection throws(StatusError) in
                try DeletedDatabase(connection)?.removeRows(connection)
            }
            guard removedCount != nil else { return }
        }
    }

    package func stopPurging() { isPurgeStopped.store(true, ordering: .relaxed) }

    @discardableResult
    package func close() async -> StatusError? {
        let error = await store.close()
        await tailer.close()
        await engine.close()
        return error
    }
}
