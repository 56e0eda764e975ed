internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// Discards the oldest commits of a database, in small steps in the background, after commits of this server.
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

    /// The number of commits that are removed at once.
    private static let stepCount: Int64 = 200

    init(_ database: Int64, _ engine: Engine) {
        self.database = database
        self.engine = engine
    }

    /// Starts a run if there have been enough commits since the last one.
    func didCommit(_ sequence: SequenceNumber) {
        let interval = UInt64(engine.configuration.pruningInterval)
        state.withLock { state in
            guard !state.isClosed, state.task == nil, sequence >= state.next ?? .zero else { return }
            state.next = SequenceNumber(sequence.rawValue + interval)
            state.task = Task.detached {
                // The next run removes the rest.
                try? await self.run()
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

    private func run() async throws(StatusError) {
        let bounds = try await discard()
        guard let bounds else { return }
        var first = bounds.first
        while first < bounds.end, !state.withLock(\.isClosed) {
            let last = min(first + Self.stepCount, bounds.end)
            try await engine.writes.write { [database, first] connection throws(StatusError) in
                try connection.execute(
                    ["changes", "commits"].map { table in
                        EngineStatement(
                            "DELETE FROM hearth.\(table) WHERE db = $1::bigint AND seq >= $2::bigint AND seq < $3::bigint",
                            .integer(database),
                            .integer(first),
                            .integer(last)
                        )
                    }
                )
                return
            }
            first = last
        }
    }

    /// Marks the commits that are not retained, so that readers do not use them; returns the range of the rows to remove.
    private func discard() async throws(StatusError) -> (first: Int64, end: Int64)? {
        let configuration = engine.configuration
        let age = Int64(configuration.retentionAge / .microseconds(1))
        return try await engine.writes.write { [database] connection throws(StatusError) in
            let rows = try connection.execute([
                EngineStatement("BEGIN"),
                EngineStatement(
                    """
                    SELECT d.oldest, (SELECT min(seq) FROM hearth.commits c WHERE c.db = d.db),
                        (SELECT max(seq) FROM hearth.commits c WHERE c.db = d.db),
                        (SELECT seq FROM hearth.commits c WHERE c.db = d.db AND c.time < \(EngineClock.sql) - $2::bigint
                            ORDER BY time DESC LIMIT 1)
                    FROM hearth.databases d WHERE d.db = $1::bigint FOR UPDATE
                    """,
                    .integer(database),
                    .integer(age)
                ),
                EngineStatement(
                    """
                    DELETE FROM hearth.clients WHERE db = $1::bigint
                    AND last_use < \(EngineClock.sql)
                        - CASE WHEN substr(client, 1, 6) = '\\x000000000000'::bytea THEN $3::bigint ELSE $2::bigint END
                    """,
                    .integer(database),
                    .integer(Int64(CommitReceipts.retentionDays) * Self.day),
                    .integer(Int64(CommitReceipts.shortLivedRetentionDays) * Self.day)
                ),
            ])[1]
            guard rows.count == 1, let oldest = rows.integer(0, 0), let first = rows.integer(0, 1),
                let last = rows.integer(0, 2)
            else { return nil }
            let end = max(oldest, min(rows.integer(0, 3) ?? 0, last - Int64(configuration.minimumRetainedCount)) + 1)
            try connection.execute([
                EngineStatement(
                    "UPDATE hearth.databases SET oldest = $2::bigint WHERE db = $1::bigint AND oldest < $2::bigint",
                    .integer(database),
                    .integer(end)
                ),
                EngineStatement("COMMIT"),
            ])
            return (first, end)
        }
    }

    /// A day in microseconds.
    private static let day: Int64 = 24 * 3_600 * 1_000_000
}
