internal import DocumentModel
internal import Synchronization

/// Ends stalled transactions of other servers, for whose locks this one or others wait.
///
/// The engine ends a transaction by itself when its server sends nothing **between** messages (`idle_in_transaction_session_timeout`). But
/// statements are sent in a pipeline, to whose end the engine takes a transaction for active, even while it waits for the rest, or for its
/// answer to be read. A server that stands still or loses its network there would keep its locks until the engine's machine gives the
/// connection up, by default after two hours. So all servers look for such transactions, on a connection that waits for no lock.
final class StalledTransactions: Sendable {
    private let session: EngineSession
    private let maximumStall: Duration
    private let log: EngineLog
    private let task = Mutex<Task<Void, Never>?>(nil)

    /// The time limit of the round trip, after which the connection is replaced.
    private static let roundTrip: Duration = .seconds(5)

    init(_ configuration: PostgresConfiguration, log: EngineLog) {
        maximumStall = configuration.maximumStall
        self.log = log
        session = EngineSession(
            configuration.address,
            timeout: Self.roundTrip,
            maximumIdle: configuration.maximumIdle,
            label: "hearth.engine.stalled",
            log: log
        )
    }

    /// Starts the scans, eight in the time that a transaction may be stalled.
    func start() {
        task.withLock { task in
            if task == nil { task = Task.detached { [weak self] in await self?.run() } }
        }
    }

    /// Ends the scans, and waits for the one in progress.
    func close() async {
        let task = task.withLock { task in
            task?.cancel()
            return task
        }
        await task?.value
        await session.close()
    }

    private func run() async {
        while (try? await Task.sleep(for: maximumStall / 8)) != nil {
            do throws(StatusError) {
                let count = try await session.run(repeating: false) { [maximumStall] connection throws(StatusError) in
                    try connection.execute(
                        EngineStatement(Self.sql, .integer(Int64(maximumStall / .microseconds(1))))
                    ).count
                }
                if count > 0 { log.didEndStalledTransactions(count) }
            } catch {
                // An engine without these functions, or without the right to call them. If it is away, the next scan may succeed.
                if case .statement(let code, _)? = error.engineError, Self.codesWithoutSupport.contains(code) { return }
            }
        }
    }

    /// The codes of errors of syntax, of features that are not supported, of missing tables, columns and functions, and of missing rights.
    private static let codesWithoutSupport = ["42601", "0A000", "42P01", "42703", "42883", "42501"]

    /// Looks at what sessions wait for only while some wait for locks. A user sees the sessions of its own, and may end them. Those of other
    /// programs, such as `pg_dump`, have other names.
    private static let sql = """
        SELECT pg_terminate_backend(stalled.pid) FROM pg_stat_activity stalled
        WHERE stalled.usename = session_user AND stalled.application_name = current_setting('application_name')
            AND stalled.state = 'active' AND stalled.wait_event_type = 'Client'
            AND stalled.state_change < clock_timestamp() - $1::bigint * INTERVAL '1 microsecond'
            AND stalled.pid IN (
                SELECT unnest(pg_blocking_pids(waiting.pid)) FROM pg_stat_activity waiting
                WHERE waiting.datname = current_database() AND waiting.wait_event_type = 'Lock'
            )
        """
}
