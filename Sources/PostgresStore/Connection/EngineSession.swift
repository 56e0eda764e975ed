internal import Concurrency
internal import DocumentModel

/// A connection that is made when it is first used, and made again after a failure, on a thread of its own.
actor EngineSession {
    private let address: EngineAddress
    private let timeout: Duration
    private let log: EngineLog
    private var connection: EngineConnection?

    private nonisolated let executor: SerialQueueExecutor
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    /// - Parameter timeout: The time limit of each round trip.
    init(_ address: EngineAddress, timeout: Duration, label: String, log: EngineLog) {
        self.address = address
        self.timeout = timeout
        self.log = log
        executor = SerialQueueExecutor(label: label)
    }

    /// Runs `body` with the connection, on the session's thread. A transaction that `body` leaves open is rolled back.
    ///
    /// - Parameter repeating: True to run `body` once more when the connection was lost since its last use, or during `body`, which
    ///   then must only read.
    func run<Result: Sendable>(
        repeating: Bool,
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        let wasConnected = connection != nil
        do throws(StatusError) {
            return try runOnce(body)
        } catch {
            guard repeating, wasConnected, connection == nil, !Task.isCancelled else { throw error }
            return try runOnce(body)
        }
    }

    private func runOnce<Result: Sendable>(
        _ body: @Sendable (EngineConnection) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        do throws(StatusError) {
            let connection = try connected()
            defer {
                connection.rollBack()
                if !connection.isUsable { self.connection = nil }
            }
            return try body(connection)
        } catch {
            log.didFail(with: error)
            throw error
        }
    }

    private func connected() throws(StatusError) -> EngineConnection {
        if let connection { return connection }
        let connection = try EngineConnection(address, timeout: timeout)
        log.didConnect()
        self.connection = connection
        return connection
    }

    /// Closes the connection.
    func close() {
        connection = nil
    }
}
