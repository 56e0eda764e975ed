internal import Concurrency
package import DocumentModel
package import DocumentStore
package import Logging
internal import StorageIO
internal import Synchronization
internal import UTF8Text

/// The databases in an engine that speaks the protocol of PostgreSQL. Several servers may share an engine.
package final class PostgresHost: StoreHost {
    let engine: Engine
    private let tailer: CommitTailer
    /// The store of the default database.
    let store: PostgresStore
    /// The batches that other servers have forwarded.
    private let receivedBatches = ReceivedBatches()
    private let isPurgeStopped = Atomic(false)

    var configuration: PostgresConfiguration { engine.configuration }

    /// The maximum number of additional databases.
    static let maximumCount = 1_000

    private init(_ engine: Engine, _ tailer: CommitTailer, _ store: PostgresStore) {
        self.engine = engine
        self.tailer = tailer
        self.store = store
    }

    /// Connects to an engine, makes Hearth's tables or brings them to the version of this program, and opens the default database, creating it if needed.
    ///
    /// - Throws: `.unavailable` when the engine cannot be reached; `.failedPrecondition` when its tables are those of a newer server
    ///   and cannot be used, or the user has not the rights.
    package static func open(
        _ configuration: PostgresConfiguration,
        logger: Logger
    ) async throws(StatusError) -> PostgresHost {
        var engine = Engine(configuration, logger: logger)
        do throws(StatusError) {
            let canNotify = try await engine.writes.write { connection throws(StatusError) in
                try EngineSchema.prepare(connection)
                return configuration.usesNotifications ? try connection.canNotify : true
            }
            if !canNotify {
                logger.notice("The engine sends no notifications for this user; polling for the commits of other servers")
                await engine.close()
                var configuration = configuration
                configuration.usesNotifications = false
                engine = Engine(configuration, logger: logger)
            }
        } catch {
            await engine.close()
            throw error
        }
        engine.stalledTransactions.start()
        let tailer = CommitTailer(engine)
        do throws(StatusError) {
            let store = try await open(DatabaseIdentity(), maximumCount: nil, engine, tailer)
            return PostgresHost(engine, tailer, store)
        } catch {
            await tailer.close()
            await engine.close()
            throw error
        }
    }

    /// Makes Hearth's tables in an engine, or brings them to the version of this program, and adds the missing entries of all databases.
    ///
    /// - Returns: The versions before and after; 0 if there were no tables.
    /// - Throws: The errors of ``open(_:logger:)``.
    package static func migrate(
        _ configuration: PostgresConfiguration,
        logger: Logger
    ) async throws(StatusError) -> (from: Int64, to: Int64) {
        let engine = Engine(configuration, logger: logger)
        let result = await Result<Int64, StatusError>.catching { () async throws(StatusError) in
            let (version, databases) = try await engine.writes.write { connection throws(StatusError) in
                (try EngineSchema.migrate(connection), try DatabaseRow.unindexed(connection))
            }
            for database in databases {
                try await EntryBackfill(database.number, engine, FieldIDs(seed: database.seed)).run()
            }
            return version
        }
        await engine.close()
        let version = try result.get()
        return (version, max(version, EngineSchema.version))
    }

    package var defaultStore: any DocumentStore { store }

    package func databases() async throws(StatusError) -> [DatabaseID] {
        try await rows().keys.sorted()
    }

    package func sharedDatabases() async throws(StatusError) -> [DatabaseID: String]? {
        try await rows().mapValues(\.epoch.description)
    }

    private func rows() async throws(StatusError) -> [DatabaseID: DatabaseRow] {
        let rows = try await engine.reads.read { connection throws(StatusError) in try DatabaseRow.all(connection) }
        var all: [DatabaseID: DatabaseRow] = [:]
        for (name, row) in rows {
            let parts = name.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2 else { throw .damagedRow("a database has an invalid name") }
            all[try DatabaseID(project: UTF8Key(parts[0]), database: UTF8Key(parts[1]))] = row
        }
        return all
    }

    package func contains(_ id: DatabaseID) async throws(StatusError) -> Bool {
        try await engine.reads.read { connection throws(StatusError) in
            try DatabaseRow.find(DatabaseRow.name(id), connection) != nil
        }
    }

    /// Returns a record of the default database.
    package func record(_ name: EngineRecord.Name) -> EngineRecord { EngineRecord(name, of: store.database, in: engine) }

    /// Returns the secret that all servers of the engine share: 256 random bits, which the first of them has made.
    ///
    /// - Throws: `.dataLoss` when it is damaged.
    package func secret() async throws(StatusError) -> [UInt8] {
        let secret = record(.secret)
        var bytes = try await secret.snapshot().bytes
        if bytes == nil { bytes = try await secret.update { $0 == nil ? RandomBytes.make(Self.secretBytes) : nil }.bytes }
        // A key that anybody could guess would accept what anybody has made.
        guard let bytes, bytes.count == Self.secretBytes else {
            throw .damagedRow("the secret of the servers has another length")
        }
        return bytes
    }

    private static let secretBytes = 32

    /// Returns a record of an additional database, or of the default one for `nil`; `nil` if the database does not exist.
    package func record(_ name: EngineRecord.Name, of id: DatabaseID?) async throws(StatusError) -> EngineRecord? {
        guard let id else { return record(name) }
        let database = try await engine.reads.read { connection throws(StatusError) in
            try DatabaseRow.find(DatabaseRow.name(id), connection)
        }
        return database.map { EngineRecord(name, of: $0.number, in: engine) }
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
        return PostgresStore(row, at: log.position(of: identity.id, row.epoch), engine, tailer)
    }

    package func delete(_ id: DatabaseID) async throws(StatusError) {
        try await engine.writes.write { connection throws(StatusError) in
            try EngineSchema.requireUsable(connection)
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
                try EngineSchema.requireUsable(connection)
                return try DeletedDatabase(connection)?.removeRows(connection)
            }
            guard removedCount != nil else { return }
        }
    }

    package var engineStatus: EngineStatus? {
        let pools = [engine.reads, engine.queries, engine.feed, engine.writes].map(\.use)
        return EngineStatus(
            isReached: engine.log.isReached,
            sessionCount: pools.map(\.sessions).reduce(0, +),
            usedSessionCount: pools.map(\.used).reduce(0, +),
            waitingCount: pools.map(\.waiting).reduce(engine.gets.queueCount, +),
            logAge: tailer.age,
            leaseCount: engine.leases.count,
            retryCount: engine.log.retryCount.load(ordering: .relaxed),
            replacedHistoryCount: engine.log.replacedHistoryCount.load(ordering: .relaxed),
            forwardedCount: engine.log.forwardedCount.load(ordering: .relaxed),
            failedForwardCount: engine.log.failedForwardCount.load(ordering: .relaxed)
        )
    }

    /// Begins to forward commits to the servers that have the leases of their databases, and to announce the address of this one, so that
    /// others forward theirs.
    package func startForwarding(at address: String, _ forwarding: any CommitForwarding) {
        engine.peers.start(at: address, forwarding)
        engine.leases.renewNow()
    }

    /// Makes the commits of a batch that another server has forwarded, and returns the answer, or `.invalidArgument` for anything else, and
    /// for a batch of another format.
    package func commit(forwarded batch: [UInt8]) async -> Result<[UInt8], StatusError> {
        await .catching { () async throws(StatusError) in
            let batch = try ForwardedBatch(batch)
            let answerToAll = { ForwardedAnswer(Array(repeating: $0, count: batch.requests.count)).encoded }
            switch receivedBatches.admit(batch, at: engine.leases.engineTime) {
            case .accepted: break
            case .duplicate: return answerToAll(.unknown)
            case .refused: return answerToAll(.otherLease)
            }
            guard let queue = engine.leases.commitQueue(of: batch.database, inTerm: batch.term) else {
                return answerToAll(.otherLease)
            }
            return ForwardedAnswer(await queue.commit(batch)).encoded
        }
    }

    /// The answer to a batch of another server for which this one has no memory or time: the other makes its commits.
    package static var overloadAnswer: [UInt8] { ForwardedAnswer.overload }

    package func stopPurging() { isPurgeStopped.store(true, ordering: .relaxed) }

    @discardableResult
    package func close() async -> StatusError? {
        let error = await store.close()
        await Engine.close { [tailer, engine] in
            await tailer.close()
            await engine.close()
        }
        return error
    }
}
