internal import Concurrency
internal import DocumentModel

/// A connection that is made when it is first used, and made again after a failure, on a thread of its own.
actor EngineSession {
    private let address: EngineAddress
    private let timeout: Duration
    private let maximumIdle: Duration
    private let log: EngineLog
    private var connection: EngineConnection?

    private nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameters:
    ///   - timeout: The time limit of each round trip.
    ///   - maximumIdle: The time after which the engine ends a transaction without a statement.
    init(_ address: EngineAddress, timeout: Duration, maximumIdle: Duration, label: String, log: EngineLog) {
        self.address = address
        self.timeout = timeout
        self.maximumIdle = maximumIdle
        self.log = log
        executor = SerialQueueExecutor(label: label)
    }

    /// Runs `body` with the connection, on the session's thread. A transaction that `body` leaves open is rolled back.
    ///
    /// - Parameter repeating: True to run `body` once more when the connection was lost during `body`, which then must only read. It is not run
    ///   again after a time-out, or when no connection could be made.
    func run<Result: Sendable>(
        repeating: Bool,
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        var hasBegun = false
        do throws(StatusError) {
            return try runOnce(body, &hasBegun)
        } catch {
            guard repeating, hasBegun, connection == nil, !Task.isCancelled else { throw error }
            if case .timeout? = error.engineError { throw error }
            return try runOnce(body, &hasBegun)
        }
    }

    private func runOnce<Result: Sendable>(
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result,
        _ hasBegun: inout Bool
    ) throws(StatusError) -> Result {
        do throws(StatusError) {
            let connection = try connected()
            defer {
                connection.rollBack()
                if !connection.isUsable { self.connection = nil }
            }
            hasBegun = true
            return try body(connection)
        } catch {
            log.didFail(with: error)
            throw error
        }
    }

    private func connected() throws(StatusError) -> EngineConnection {
        // Nothing is sent over a connection that has ended since its last use, so that not even a write fails with it.
        if let connection, connection.isQuiet { return connection }
        connection = nil
        let connection = try EngineConnection(address, timeout: timeout, maximumIdle: maximumIdle)
        log.didConnect()
        self.connection = connection
        return connection
    }

    /// Closes the connection.
    func close() {
        connection = nil
    }
}
