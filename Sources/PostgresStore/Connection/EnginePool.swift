internal import Concurrency
internal import DocumentModel
internal import StorageIO
internal import Synchronization

/// A bounded number of sessions, each of which one caller has at a time.
final class EnginePool: Sendable {
    private struct State {
        /// The sessions without a caller; the last one was used last.
        var idle: [EngineSession]
        var waiters = Waiters()
        var waiterCount = 0
        /// The sessions that waiters were given and have not taken yet.
        var granted: [ObjectIdentifier: EngineSession] = [:]
    }

    private let state: Mutex<State>
    private let sessions: [EngineSession]
    private let maximumWait: Duration

    /// The maximum number of callers that wait.
    static let maximumWaiterCount = 10_000

    /// - Parameters:
    ///   - configuration: The engine, and the limits of a round trip and of a wait for a session.
    ///   - maximumIdle: The time after which the engine ends a transaction without a statement.
    init(_ configuration: PostgresConfiguration, label: String, count: Int, maximumIdle: Duration, log: EngineLog) {
        sessions = (0..<count).map { number in
            EngineSession(
                configuration.address,
                timeout: configuration.timeout,
                maximumIdle: maximumIdle,
                label: "\(label).\(number)",
                log: log
            )
        }
        state = Mutex(State(idle: sessions))
        maximumWait = configuration.maximumWait
    }

    /// Runs `body`, which only reads, with a connection, and once more when the connection was lost.
    ///
    /// - Throws: `.unavailable` or `.deadlineExceeded`, before `body`, if the call of the current task has waited too long; the errors
    ///   of `body`.
    func read<Result: Sendable>(
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await run(repeating: true, body)
    }

    /// Runs `body` with a connection, once.
    ///
    /// - Throws: As ``read(_:)``.
    func write<Result: Sendable>(
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        try await run(repeating: false, body)
    }

    private func run<Result: Sendable>(
        repeating: Bool,
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let waiting = Stopwatch()
        let session = try await takeSession()
        defer { give(session) }
        if let refusal = CallAdmission.current?.begin(after: waiting) { throw StatusError(refusing: refusal) }
        return try await session.run(repeating: repeating, body)
    }

    /// The numbers of sessions, of those that callers use, and of callers that wait.
    var use: (sessions: Int, used: Int, waiting: Int) {
        state.withLock { (sessions.count, sessions.count - $0.idle.count, $0.waiterCount) }
    }

    /// Closes the connections.
    func close() async {
        for session in sessions { await session.close() }
    }

    private func takeSession() async throws(StatusError) -> EngineSession {
        let (session, waiter) = state.withLock { state -> (EngineSession?, Waiter?) in
            if let session = state.idle.popLast() { return (session, nil) }
            guard state.waiterCount < Self.maximumWaiterCount else { return (nil, nil) }
            state.waiterCount += 1
            return (nil, state.waiters.add())
        }
        if let session { return session }
        guard let waiter else {
            throw Self.tooManyWaiters
        }
        let timer = Task { [maximumWait] in
            if (try? await Task.sleep(for: maximumWait)) != nil { waiter.resume() }
        }
        let wasResumed = await waiter.wait()
        timer.cancel()
        let granted = state.withLock { state in
            state.waiterCount -= 1
            return state.granted.removeValue(forKey: ObjectIdentifier(waiter))
        }
        if let granted { return granted }
        guard wasResumed else { throw StatusError(.cancelled, "The task was cancelled.") }
        throw Self.noFreeConnection
    }

    /// The error of a caller when too many others wait.
    static var tooManyWaiters: StatusError {
        StatusError(.unavailable, "Too many calls wait for a connection to the database engine. Try again later.")
    }

    /// The error of a caller that has waited too long.
    static var noFreeConnection: StatusError {
        StatusError(.unavailable, "No connection to the database engine became free in time. Try again later.")
    }

    private func give(_ session: EngineSession) {
        let waiter = state.withLock { state -> Waiter? in
            guard let waiter = state.waiters.removeFirst() else {
                state.idle.append(session)
                return nil
            }
            state.granted[ObjectIdentifier(waiter)] = session
            return waiter
        }
        waiter?.resume()
    }
}
