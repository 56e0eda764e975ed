internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// Discards the oldest commits of a database, and the scopes that have no documents since, in small steps in the background, after commits of
/// any server while this one has the lease.
///
/// Each step is a transaction that has locked the database and the lease. So a server that stood still removes nothing by what it knew
/// before: neither after another server has taken the lease, nor after the engine was restored.
final class Retention: Sendable {
    private struct State {
        /// The commit after which the next run starts.
        var next: SequenceNumber?
        var task: Task<Void, Never>?
        var isClosed = false
    }

    private let state = Mutex(State())
    private let database: Int64
    private let engine: Engine

    /// The number of commits that are removed at once, while other commits wait.
    private static let stepCount: Int64 = 200
    /// The number of their changes, unless a single commit has more.
    private static let stepChangeCount: Int64 = 1_000

    init(_ database: Int64, _ engine: Engine) {
        self.database = database
        self.engine = engine
    }

    /// Starts a run if there have been enough commits since the last one.
    func didCommit(_ sequence: SequenceNumber) {
        guard let term = engine.leases.term(of: database) else { return }
        let interval = UInt64(engine.configuration.pruningInterval)
        state.withLock { state in
            guard !state.isClosed, state.task == nil, sequence >= state.next ?? .zero else { return }
            state.next = SequenceNumber(sequence.rawValue + interval)
            state.task = Task.detached {
                // The next run removes the rest.
                try? await self.run(term)
                self.state.withLock { $0.task = nil }
            }
        }
    }

    /// Ends, after the step in progress.
    func close() async {
        let task = state.withLock { state in
            state.isClosed = true
            return state.task
        }
        await task?.value
    }

    /// Discards what is not retained, as the server that has the lease with a term. Ends when another one has taken it.
    func run(_ term: Int64) async throws(StatusError) {
        guard try await discard(term) else { return }
        while !state.withLock(\.isClosed), try await removeRows(term) {}
    }

    /// Begins a transaction that locks the row of the database, so that there are no commits meanwhile, and the lease.
    ///
    /// - Returns: The oldest retained commit, and the last one; `nil` if the database is gone, or the lease has another term.
    private static func begin(
        _ database: Int64,
        _ term: Int64,
        _ connection: EngineConnection
    ) throws(StatusError) -> (oldest: Int64, last: Int64)? {
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL READ COMMITTED"),
            EngineStatement(
                "SELECT oldest FROM hearth.databases WHERE db = $1::bigint AND name IS NOT NULL FOR UPDATE",
                .integer(database)
            ),
            EngineStatement(
                "SELECT db FROM hearth.leases WHERE db = $1::bigint AND term = $2::bigint FOR UPDATE",
                .integer(database),
                .integer(term)
            ),
            // A statement of its own, which sees the commit that the lock has waited for.
            EngineStatement("SELECT max(seq) FROM hearth.commits WHERE db = $1::bigint", .integer(database)),
        ])
        guard rows[2].count == 1, let oldest = rows[1].integer(0, 0) else { return nil }
        return (oldest, rows[3].integer(0, 0) ?? 0)
    }

    /// Removes rows of some commits that are not retained.
    ///
    /// - Returns: False if there are no others, or another server has the lease.
    private func removeRows(_ term: Int64) async throws(StatusError) -> Bool {
        try await engine.writes.write { [database] connection throws(StatusError) in
            guard let (oldest, last) = try Self.begin(database, term, connection) else { return false }
            // The last commit stays, even if it is not retained: the next one follows it.
            let limit = min(oldest, last)
            let bounds = try connection.execute([
                EngineStatement("SELECT min(seq) FROM hearth.commits WHERE db = $1::bigint", .integer(database)),
                EngineStatement(
                    "SELECT seq FROM hearth.changes WHERE db = $1::bigint ORDER BY seq, n LIMIT 1 OFFSET $2::bigint",
                    .integer(database),
                    .integer(Self.stepChangeCount)
                ),
            ])
            guard let first = bounds[0].integer(0, 0), first < limit else { return false }
            let changed = bounds[1].count == 1 ? bounds[1].integer(0, 0) : nil
            let end = min(first + Self.stepCount, max(changed ?? limit, first + 1), limit)
            try connection.execute([
                // A scope without documents goes with the last commit that changed one. The highest number stays, so that none is given
                // again. See `lastChange(in:)` of a transaction's state.
                EngineStatement(
                    """
                    WITH removed AS (
                        DELETE FROM hearth.changes WHERE db = $1::bigint AND seq < $2::bigint
                        RETURNING collection, collection_group
                    )
                    DELETE FROM hearth.scopes s USING (
                        SELECT collection AS id FROM removed UNION SELECT collection_group FROM removed
                    ) r
                    WHERE s.db = $1::bigint AND s.id = r.id AND s.documents = 0 AND s.changed < $2::bigint
                    AND s.id < (SELECT max(id) FROM hearth.scopes WHERE db = $1::bigint)
                    """,
                    .integer(database),
                    .integer(end)
                ),
                EngineStatement(
                    "DELETE FROM hearth.commits WHERE db = $1::bigint AND seq < $2::bigint",
                    .integer(database),
                    .integer(end)
                ),
                EngineStatement("COMMIT"),
            ])
            return end < limit
        }
    }

    /// Marks the commits that are not retained, so that readers do not use them, and forgets clients that were not seen for long.
    ///
    /// - Returns: False if another server has the lease.
    private func discard(_ term: Int64) async throws(StatusError) -> Bool {
        let configuration = engine.configuration
        let age = Int64(configuration.retentionAge / .microseconds(1))
        return try await engine.writes.write { [database] connection throws(StatusError) in
            guard let (oldest, last) = try Self.begin(database, term, connection) else { return false }
            let aged = try connection.execute([
                // The clock in a query of its own, so that it is read once, and the index by time is searched instead of walked.
                EngineStatement(
                    """
                    SELECT seq FROM hearth.commits WHERE db = $1::bigint AND time < (SELECT \(EngineClock.sql)) - $2::bigint
                    ORDER BY time DESC LIMIT 1
                    """,
                    .integer(database),
                    .integer(age)
                ),
                EngineStatement(
                    """
                    DELETE FROM hearth.clients WHERE db = $1::bigint
                    AND last_use < (SELECT \(EngineClock.sql))
                        - CASE WHEN substr(client, 1, 6) = '\\x000000000000'::bytea THEN $3::bigint ELSE $2::bigint END
                    """,
                    .integer(database),
                    .integer(Int64(CommitReceipts.retentionDays) * Self.day),
                    .integer(Int64(CommitReceipts.shortLivedRetentionDays) * Self.day)
                ),
            ])[0]
            let lastAged = aged.count == 1 ? aged.integer(0, 0) ?? 0 : 0
            let end = max(oldest, min(lastAged, last - Int64(configuration.minimumRetainedCount)) + 1)
            try connection.execute([
                EngineStatement(
                    "UPDATE hearth.databases SET oldest = $2::bigint WHERE db = $1::bigint AND oldest < $2::bigint",
                    .integer(database),
                    .integer(end)
                ),
                EngineStatement("COMMIT"),
            ])
            return true
        }
    }

    /// A day in microseconds.
    private static let day: Int64 = 24 * 3_600 * 1_000_000
}
