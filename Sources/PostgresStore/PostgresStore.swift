internal import Concurrency
internal import DocumentIndex
package import DocumentModel
package import DocumentStore
internal import QueryEngine
internal import Synchronization

/// A store in an engine that speaks the protocol of PostgreSQL. Several servers may have the same database open at the same time.
///
/// - An acknowledged commit is one that the engine has committed; it is as durable as the engine makes it.
/// - Commits of all servers have one order, since each locks the row of the database; see ``EngineSchema``.
/// - Commit times come from the engine's clock.
/// - Queries read ranges of an index, which is written with the documents; see ``EngineIndex``.
package final class PostgresStore: ClosableStore {
    /// The number of the database.
    let database: Int64
    let engine: Engine
    private let log: CommitLog
    private let tailer: CommitTailer
    let commitQueue: CommitQueue
    private let retention: Retention
    private let fields: FieldIDs
    private let backfill: EntryBackfill

    /// - Parameters:
    ///   - row: The database.
    ///   - position: The position of its log.
    init(_ row: DatabaseRow, at position: StorePosition, _ engine: Engine, _ tailer: CommitTailer) {
        database = row.number
        self.engine = engine
        self.tailer = tailer
        log = CommitLog(at: position, row.number, engine)
        fields = FieldIDs(seed: row.seed)
        backfill = EntryBackfill(row.number, engine, fields)
        commitQueue = CommitQueue(row.number, engine, log, fields)
        let retention = Retention(row.number, engine)
        self.retention = retention
        tailer.add(log)
        engine.leases.add(row.number, for: retention, commitQueue) { [feed = log.feed] in
            retention.didCommit(feed.position.lastSequence)
        }
        // Another server may have ended before its backfill did.
        if !row.isIndexed { backfill.start() }
    }

    /// Closes the store: rejects new commits, completes the accepted ones, and ends all commit sequences. Reads remain possible.
    @discardableResult
    package func close() async -> StatusError? {
        await commitQueue.close()
        tailer.remove(log)
        engine.leases.remove(database, for: retention)
        log.feed.close()
        await Engine.close { [retention, backfill] in
            await retention.close()
            await backfill.close()
        }
        return nil
    }
}

// MARK: - Reads

extension PostgresStore {
    package func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        guard readTime == nil else {
            return try await withSnapshot(readTime) { snapshot throws(StatusError) in try snapshot.document(at: path) }
        }
        return try await engine.gets.value(for: DocumentGet(path, in: database)) { [reads = engine.reads] gets in
            await DocumentGet.results(of: gets, over: reads)
        }
    }

    package func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try await withSnapshot(readTime) { snapshot throws(StatusError) in
            try snapshot.documents(in: collection, after: after, limit: limit, includingMissing: includingMissing)
        }
    }

    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        try await withSnapshot(readTime) { snapshot throws(StatusError) in
            try snapshot.collections(under: parent, after: after, limit: limit)
        }
    }

    package func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await withSnapshot(nil) { snapshot throws(StatusError) in
            try snapshot.history(of: path, before: before, limit: limit)
        }
    }

    package func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await withSnapshot(nil) { snapshot throws(StatusError) in try snapshot.size(of: collection) }
    }

    package func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try await withIndex(readTime) { index throws(StatusError) in
            let execution = try QueryExecution(query, index, index, maximumBytes: maximumBytes)
            let matches = try execution.run()
            return QueryResults(documents: matches, readTime: index.time, metrics: execution.metrics)
        }
    }

    package func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try await withIndex(readTime) { index throws(StatusError) in
            let execution = try QueryExecution(
                query,
                index,
                index,
                maximumBytes: Self.maximumAggregatedBytes,
                mask: aggregations.fields
            )
            let results = try execution.aggregate(aggregations)
            return AggregationResults(results: results, readTime: index.time, metrics: execution.metrics)
        }
    }

    /// The maximum size of the values that are aggregated in a query with a limit.
    private static let maximumAggregatedBytes = 32 << 20

    private func withIndex<Result: Sendable>(
        _ readTime: Timestamp?,
        _ body: @Sendable (EngineIndex) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let (cancellation, fields, backfill) = (EngineIndex.Cancellation(), fields, backfill)
        let result = await withTaskCancellationHandler {
            await Swift.Result.catching { () async throws(StatusError) in
                try await withSnapshot(readTime, of: engine.queries) { snapshot throws(StatusError) in
                    let index = try EngineIndex(snapshot, fields, cancellation)
                    if !index.isComplete { backfill.start() }
                    return try body(index)
                }
            }
        } onCancel: {
            cancellation.cancel()
        }
        return try result.get()
    }

    /// Runs `body` with a view as of the last commit, or of a read time.
    private func withSnapshot<Result: Sendable>(
        _ readTime: Timestamp?,
        of pool: EnginePool? = nil,
        _ body: @Sendable (EngineSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let (database, known) = (database, log.feed.position)
        do throws(StatusError) {
            // A loss is known here before the position of the log that replaced the lost one.
            if let readTime, log.unrecordedLoss?.contains(readTime) == true { throw HistoryLoss.justNoticed }
            return try await (pool ?? engine.reads).read { connection throws(StatusError) in
                if let readTime, readTime > known.lastCommitTime ?? .minimum {
                    try ReadTime(readTime, database).observe(connection)
                }
                let snapshot = try EngineSnapshot(connection, database, at: readTime, knowing: LogAnchor(known))
                defer { connection.rollBack() }
                return try body(snapshot)
            }
        } catch {
            if error.cause is HistoryLoss { await log.catchUp() }
            throw error
        }
    }
}

// MARK: - Commits

extension PostgresStore {
    package func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        let start = ContinuousClock.now
        let observer = engine.configuration.observer
        let result: CommitResult
        do throws(StatusError) {
            result = try await commitQueue.commit(
                CommitRequest(writes: writes, reads: reads, author: author, identity: identity)
            )
        } catch {
            observer?.didFailCommit(with: error, writeCount: writes.count, period: start..<max(start, .now))
            throw error
        }
        if !result.isReplayed {
            observer?.didCommit(writeCount: writes.count, period: start..<max(start, .now), sync: nil)
            if let sequence = result.sequence { retention.didCommit(sequence) }
        }
        return result
    }

    package func commits(after sequence: SequenceNumber) -> CommitSequence { log.commits(after: sequence) }

    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        log.feed.notify(after: sequence, body)
    }

    package var position: StorePosition { log.feed.position }

    package var restartCount: Int { log.feed.restartCount }

    package func safePosition() async throws(StatusError) -> StorePosition { try await log.safePosition() }

    package var writeBlockedReason: StatusError? {
        get async { await engine.probe.writeBlockedReason }
    }
}

// MARK: - Definitions

extension PostgresStore {
    package func indexes() async -> IndexReport {
        do throws(StatusError) {
            let database = database
            return try await engine.reads.read { connection throws(StatusError) in
                let (definitions, progress) = try DatabaseRow.definitions(of: database, isLocking: false, connection)
                return IndexReport(definitions, progress)
            }
        } catch {
            var report = IndexReport()
            report.singleFields = .unavailable(reason: error.message)
            report.queryError = error
            return report
        }
    }

    package func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        let database = database
        let report = try await engine.writes.write { connection throws(StatusError) in
            try connection.execute(EngineStatement("BEGIN"))
            var (definitions, progress) = try DatabaseRow.definitions(of: database, isLocking: true, connection)
            let known = definitions
            try definitions.apply(change)
            for collection in known.collections.union(definitions.collections) {
                let policy = definitions.policy(of: collection)
                guard policy != known.policy(of: collection) else { continue }
                progress.setDesired(policy, of: collection, total: try Self.documentCount(of: collection, database, connection))
            }
            try connection.execute([
                EngineStatement(
                    "UPDATE hearth.databases SET indexes = $2::bytea, builds = $3::bytea WHERE db = $1::bigint",
                    .integer(database),
                    .bytes(definitions.encoded()),
                    .bytes(progress.encoded)
                ),
                EngineStatement("COMMIT"),
            ])
            return IndexReport(definitions, progress)
        }
        backfill.start()
        return report
    }

    private static func documentCount(
        of collection: CollectionID,
        _ database: Int64,
        _ connection: EngineConnection
    ) throws(StatusError) -> Int64 {
        let rows = try connection.execute(
            EngineStatement(
                "SELECT documents FROM hearth.scopes WHERE db = $1::bigint AND key = $2::bytea",
                .integer(database),
                .bytes(EngineKey.scope(ofGroup: collection))
            )
        )
        return rows.count == 1 ? rows.integer(0, 0) ?? 0 : 0
    }

    package func quota() async throws(StatusError) -> DatabaseQuota {
        let database = database
        return try await engine.reads.read { connection throws(StatusError) in
            let rows = try connection.execute(
                EngineStatement(
                    "SELECT quota_documents, quota_bytes FROM hearth.databases WHERE db = $1::bigint AND name IS NOT NULL",
                    .integer(database)
                )
            )
            guard rows.count == 1 else { throw .databaseDeleted }
            return DatabaseQuota(
                documentCount: rows.integer(0, 0).map { Int($0) },
                byteCount: rows.integer(0, 1).map { Int($0) }
            )
        }
    }

    package func setQuota(_ quota: DatabaseQuota) async throws(StatusError) {
        let database = database
        try await engine.writes.write { connection throws(StatusError) in
            try EngineSchema.requireUsable(connection)
            try connection.execute(
                EngineStatement(
                    """
                    UPDATE hearth.databases SET quota_documents = $2::bigint, quota_bytes = $3::bigint
                    WHERE db = $1::bigint AND name IS NOT NULL
                    """,
                    .integer(database),
                    .integer(quota.documentCount.map { Int64($0) }),
                    .integer(quota.byteCount.map { Int64($0) })
                )
            )
            return
        }
    }
}

extension IndexReport {
    /// Reports definitions with the progress of their index.
    fileprivate init(_ definitions: IndexDefinitions, _ progress: IndexProgress) {
        self.init()
        func state(_ position: IndexProgress.Position?) -> BuildState {
            position.map { .building(documents: Int($0.count), of: Int(max($0.count, $0.total))) } ?? .ready
        }
        singleFields = state(progress.fill)
        indexes = definitions.indexes.map { index in
            let build = progress.builds[index.definition.collection]
            let isReadable = progress.fill == nil && build?.state.readable.composites.contains(index.definition.fields) == true
            return (index.id, index.definition, isReadable ? .ready : state(progress.fill ?? build?.position))
        }
        exemptions = definitions.exemptions
        backfills = progress.builds.filter { $0.value.position != nil }
            .sorted { $0.key < $1.key }.map { ($0.key, state($0.value.position)) }
    }
}
