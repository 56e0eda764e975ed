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
        /// The time of the last look that the engine has answered.
        var lastLook = ContinuousClock.now
    }

    private let state = Mutex(State())
    private let configuration: PostgresConfiguration
    private let log: EngineLog

    /// The time between two looks at databases that nothing waits for.
    private static let unawaitedInterval: Duration = .seconds(1)
    /// The time between two looks at databases that nothing waits for, and of whose commits notifications tell.
    private static let unawaitedHintInterval: Duration = .milliseconds(100)

    init(_ engine: Engine) {
        configuration = engine.configuration
        log = engine.log
    }

    /// The time since the last look that the engine has answered.
    var age: Duration { .now - state.withLock { $0.lastLook } }

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
            maximumIdle: configuration.maximumReadIdle,
            label: "hearth.engine.feed",
            log: log
        )
        var interval = configuration.pollInterval
        var nextFullLook = ContinuousClock.now
        var nextHintedLook = ContinuousClock.now
        // The databases with notifications since the last look at them.
        var hints: Set<Int64> = []
        var isInterrupted = false
        while !Task.isCancelled {
            do throws(StatusError) {
                let limit = hints.isEmpty ? interval : min(interval, max(.zero, nextHintedLook - .now))
                hints.formUnion(try await notified(session, within: limit))
                let all = state.withLock { $0.logs }
                if isInterrupted { for log in all.values { log.endInterruption() } }
                isInterrupted = false
                let isFullLook = ContinuousClock.now >= nextFullLook
                if isFullLook { nextFullLook = .now + Self.unawaitedInterval }
                let isHintedLook = !hints.isEmpty && ContinuousClock.now >= nextHintedLook
                if isHintedLook { nextHintedLook = .now + Self.unawaitedHintInterval }
                let logs = all.filter { number, log in
                    isFullLook || isHintedLook && hints.contains(number) || log.feed.hasSubscribers
                }
                hints = isHintedLook || isFullLook ? [] : hints.subtracting(logs.keys)
                guard !logs.isEmpty else { continue }
                let isBehind = try await look(at: logs, session)
                state.withLock { $0.lastLook = .now }
                interval = isBehind ? configuration.pollInterval : min(interval * 2, configuration.idlePollInterval)
            } catch {
                // The engine is away. Watchers wait for a while, and commits and reads report it.
                if age > configuration.maximumLogAge {
                    isInterrupted = true
                    for log in state.withLock({ Array($0.logs.values) }) { log.interrupt() }
                }
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
        let known = logs.map { ($0.key, $0.value.feed.position) }
        let heads = try await session.run(repeating: false) { connection throws(StatusError) in
            try LogHead.read(known, connection)
        }
        var isBehind = false
        for head in heads {
            guard let log = logs[head.database] else { continue }
            let known = log.feed.position
            // Another time of the same number is that of another commit, after the engine has lost some.
            guard known.lastSequence != head.position.last || known.lastCommitTime != head.position.time else { continue }
            await log.follow(head)
            // The log of a deleted database stays behind.
            isBehind = isBehind || log.feed.position.lastSequence != known.lastSequence
        }
        return isBehind
    }
}
