internal import DocumentModel
internal import Synchronization

/// The end of transactions that servers have left in the middle of a message, and whose locks others wait for.
///
/// The engine ends a transaction by itself when its server sends nothing **between** messages (`idle_in_transaction_session_timeout`). But
/// statements are sent in a pipeline, to whose end the engine takes a transaction for active, even while it waits for the rest, or for its
/// answer to be read. A server that stands still or loses its network there would keep its locks until the engine's machine gives the
/// connection up, by default after two hours. So all servers look for such transactions, on a connection that waits for no lock.
final class StalledTransactions: Sendable {
    private let session: EngineSession
    private let maximumIdle: Duration
    private let log: EngineLog
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// The time limit of the round trip, after which the connection is replaced.
    private static let roundTrip: Duration = .seconds(5)

    init(_ configuration: PostgresConfiguration, log: EngineLog) {
        maximumIdle = configuration.maximumIdle
        self.log = log
        session = EngineSession(
            configuration.address,
            timeout: Self.roundTrip,
            maximumIdle: maximumIdle,
            label: "hearth.engine.stalled",
            log: log
        )
    }

    /// Begins to look for them, four times in the time that a transaction may stand still.
    func start() {
        task.withLock { task in
            if task == nil { task = Task.detached { [weak self] in await self?.run() } }
        }
    }

    /// Ends, when the look in progress has ended.
    func close() async {
        let task = task.withLock { task in
            task?.cancel()
            return task
        }
        await task?.value
        await session.close()
    }

    private func run() async {
        while (try? await Task.sleep(for: maximumIdle / 4)) != nil {
            do throws(StatusError) {
                let count = try await session.run(repeating: false) { [maximumIdle] connection throws(StatusError) in
                    try connection.execute(
                        EngineStatement(Self.sql, .integer(Int64(maximumIdle / .microseconds(1))))
                    ).count
                }
                if count > 0 { log.didEndStalledTransactions(count) }
            } catch {
                // An engine without these functions, or without the right to call them. If it is away, the next look may succeed.
                if case .statement(let code, _)? = error.engineError, Self.codesWithoutSupport.contains(code) { return }
            }
        }
    }

    /// The codes of errors of syntax, of features that are not supported, of missing tables, columns and functions, and of missing rights.
    private static let codesWithoutSupport = ["42601", "0A000", "42P01", "42703", "42883", "42501"]

    /// Looks at what sessions wait for only while some wait for locks. A user sees the sessions of its own, and may end them.
    private static let sql = """
        SELECT pg_terminate_backend(stalled.pid) FROM pg_stat_activity stalled
        WHERE stalled.usename = current_user AND stalled.state = 'active' AND stalled.wait_event_type = 'Client'
            AND stalled.state_change < clock_timestamp() - $1::bigint * INTERVAL '1 microsecond'
            AND stalled.pid IN (
                SELECT unnest(pg_blocking_pids(waiting.pid)) FROM pg_stat_activity waiting
                WHERE waiting.datname = current_database() AND waiting.wait_event_type = 'Lock'
            )
        """
}
