internal import Concurrency
internal import DocumentModel
internal import Synchronization

/// The check whether the engine accepts writes of this server, for callers that must not wait for it long.
///
/// It has a session of its own, so that it waits for no other call. While the engine is silent, all checks share one attempt, for which
/// each of them waits for a limited time.
final class EngineProbe: Sendable {
    private let session: EngineSession
    private let attempt = Mutex<SharedOutcome<StatusError?>?>(nil)

    /// The time that a check waits. A load balancer does not wait longer than a few seconds.
    private static let limit: Duration = .milliseconds(1_500)
    /// The time limit of the round trip, after which the connection is replaced.
    private static let roundTrip: Duration = .seconds(5)

    init(_ configuration: PostgresConfiguration, log: EngineLog) {
        session = EngineSession(
            configuration.address,
            timeout: Self.roundTrip,
            maximumIdle: configuration.maximumReadIdle,
            label: "hearth.engine.probe",
            log: log
        )
    }

    /// The reason why the engine accepts no writes, or has not answered in time; `nil` if it accepts them.
    var writeBlockedReason: StatusError? {
        get async {
            let (outcome, isNew) = attempt.withLock { current in
                if let current, !current.hasEnded { return (current, false) }
                let next = SharedOutcome<StatusError?>()
                current = next
                return (next, true)
            }
            // It serves all checks until it ends, not only the one that has begun it.
            if isNew { Task.detached { outcome.end(with: await self.attemptedReason) } }
            return await outcome.value(within: Self.limit) ?? Self.silent
        }
    }

    private static let silent = StatusError(
        .unavailable,
        "The database engine has not answered for \(limit / .seconds(1)) seconds. Check the engine, its load and the network to it."
    )

    private var attemptedReason: StatusError? {
        get async {
            do throws(StatusError) {
                return try await session.run(repeating: true) { connection throws(StatusError) in
                    let rows = try connection.execute(
                        EngineStatement("SELECT CAST(current_setting('transaction_read_only') AS BYTEA)")
                    )
                    if rows.text(0, 0) == "on" { return EngineError.statement(code: "25006", message: "").status }
                    return try EngineSchema.versions(connection).unusable
                }
            } catch {
                return error
            }
        }
    }

    /// Closes the connection.
    func close() async { await session.close() }
}
