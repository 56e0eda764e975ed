internal import DocumentModel
internal import DocumentStore
internal import Synchronization

/// Looks for the commits of other servers, in all open databases of this one.
///
/// Notifications of the engine are hints only: they get lost with a connection, and some engines have none. So it also looks at short
/// intervals, which grow while there are no commits.
final class CommitTailer: Sendable {
    private struct State {
        var logs: [Int64: CommitLog] = [:]
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let configuration: PostgresConfiguration
    private let log: EngineLog

    /// The time between two looks at databases that nothing waits for.
    private static let unawaitedInterval: Duration = .seconds(1)

    init(_ engine: Engine) {
        configuration = engine.configuration
        log = engine.log
    }

    /// Follows a log.
    func add(_ log: CommitLog) {
        state.withLock { state in
            state.logs[log.database] = log
            if state.task == nil { state.task = Task.detached { [weak self] in await self?.run() } }
        }
    }

    /// Stops following a log.
    func remove(_ log: CommitLog) {
        state.withLock { state in
            if state.logs[log.database] === log { state.logs[log.database] = nil }
        }
    }

    /// Ends, when the look in progress has ended.
    func close() async {
        let task = state.withLock { state in
            state.task?.cancel()
            return state.task
        }
        await task?.value
    }

    private func run() async {
        let session = EngineSession(
            configuration.address,
            timeout: configuration.timeout,
            label: "hearth.engine.feed",
            log: log
        )
        var interval = configuration.pollInterval
        var nextFullLook = ContinuousClock.now
        while !Task.isCancelled {
            do throws(StatusError) {
                let hints = try await notified(session, within: interval)
                let all = state.withLock { $0.logs }
                let isFullLook = ContinuousClock.now >= nextFullLook
                if isFullLook { nextFullLook = .now + Self.unawaitedInterval }
                let logs = all.filter { isFullLook || hints.contains($0.key) || $0.value.feed.hasSubscribers }
                guard !logs.isEmpty else { continue }
                let isBehind = try await look(at: logs, session)
                interval = isBehind ? configuration.pollInterval : min(interval * 2, configuration.idlePollInterval)
            } catch {
                // The engine is away. Watchers wait, and commits and reads report it.
                try? await Task.sleep(for: configuration.idlePollInterval)
            }
        }
        await session.close()
    }

    /// Waits for notifications, and returns the numbers of the databases.
    private func notified(_ session: EngineSession, within limit: Duration) async throws(StatusError) -> Set<Int64> {
        let usesNotifications = configuration.usesNotifications
        return try await session.run(repeating: false) { connection throws(StatusError) in
            if usesNotifications { try connection.listen(to: CommitTransaction.channel) }
            return Set(try connection.notifications(within: limit).compactMap { Int64($0) })
        }
    }

    /// Lets the logs catch up that are behind; returns whether there were commits.
    private func look(at logs: [Int64: CommitLog], _ session: EngineSession) async throws(StatusError) -> Bool {
        let numbers = Array(logs.keys)
        let heads = try await session.run(repeating: false) { connection throws(StatusError) in
            let rows = try connection.execute(
                EngineStatement(
                    """
                    SELECT asked.db, (SELECT max(seq) FROM hearth.commits c WHERE c.db = asked.db)
                    FROM unnest($1::bigint[]) AS asked (db)
                    """,
                    .integers(numbers)
                )
            )
            return (0..<rows.count).map { (rows.integer($0, 0) ?? 0, rows.integer($0, 1) ?? 0) }
        }
        var isBehind = false
        for (number, head) in heads {
            guard let log = logs[number] else { continue }
            let known = log.feed.position.lastSequence
            guard known.rawValue != UInt64(head) else { continue }
            await log.catchUp()
            // The log of a deleted database stays behind.
            isBehind = isBehind || log.feed.position.lastSequence != known
        }
        return isBehind
    }
}
