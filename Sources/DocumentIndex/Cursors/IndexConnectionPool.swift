internal import DocumentModel
internal import GRDB
internal import StorageIO
internal import Synchronization

/// The pool of read-only connections to the index. Each read has its own connection and thread.
final class IndexConnectionPool: Sendable {
    /// The number of threads, and the maximum number of idle connections.
    private static let width = 4

    private struct State {
        var idleConnections: [DatabaseQueue] = []
        /// Incremented when the file is replaced, so that no connection to the old one is reused.
        var generation = 0
        var isClosed = false
        /// The number of reads.
        var useCount = 0
        var activeOperations: [ObjectIdentifier: IndexReadOperation] = [:]
    }

    private let state = Mutex(State())
    private let queue: WorkQueue
    private let file: IndexFile

    /// - Parameter onStart: Called with the time that each read has waited for a thread.
    init(_ file: IndexFile, onStart: (@Sendable (_ nanoseconds: UInt64) -> Void)?) {
        self.file = file
        queue = WorkQueue(label: "hearth.queries", width: Self.width, order: .newestFirstUnderOverload, onStart: onStart)
    }

    /// Runs `body` with a snapshot on one of the pool's threads. Cancelling the task cancels the read.
    ///
    /// - Parameter isUse: Whether the read is counted. One that is not leaves no connection that was not there before.
    func read<Result: Sendable>(
        isUse: Bool,
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let operation = IndexReadOperation(on: queue)
        return try await withCancellation(of: operation) { () async throws(StatusError) in
            try await self.queue.run { () throws(StatusError) in
                defer { operation.finish() }
                let (connection, generation) = try self.checkOut(for: operation, isUse: isUse)
                defer { self.checkIn(connection, generation, of: operation) }
                operation.attach(connection)
                return try self.read(connection, operation, body)
            }
        }
    }

    /// The number of reads so far.
    var useCount: Int { state.withLock { $0.useCount } }

    /// Closes the idle connections now, and those in use when they are returned.
    func closeAll() {
        let idle = state.withLock { state in
            state.generation += 1
            defer { state.idleConnections = [] }
            return state.idleConnections
        }
        for connection in idle { try? connection.close() }
    }

    /// Cancels all reads and rejects subsequent ones.
    func close() {
        let active = state.withLock { state in
            state.isClosed = true
            return Array(state.activeOperations.values)
        }
        for operation in active { operation.cancel() }
        closeAll()
    }
}

extension IndexConnectionPool {
    private func withCancellation<Result: Sendable>(
        of operation: IndexReadOperation,
        _ body: () async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let result: Swift.Result<Result, StatusError> = await withTaskCancellationHandler {
            do throws(StatusError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            operation.cancel()
        }
        return try result.get()
    }

    /// Returns an idle connection, or a new one.
    ///
    /// - Returns: The connection, and its generation; `nil` if it must be closed afterward.
    private func checkOut(
        for operation: IndexReadOperation,
        isUse: Bool
    ) throws(StatusError) -> (DatabaseQueue, generation: Int?) {
        let (idle, generation, isClosed) = state.withLock { state in
            if isUse { state.useCount += 1 }
            return (state.idleConnections.popLast(), state.generation, state.isClosed)
        }
        guard !isClosed else { throw StatusError(.unavailable, "Hearth is shutting down.") }
        do throws(IndexDatabaseError) {
            let connection = if let idle { idle } else { try file.openForReading() }
            // The pool may have been closed in the meantime.
            let isClosed = state.withLock { state in
                state.activeOperations[ObjectIdentifier(operation)] = operation
                return state.isClosed
            }
            if isClosed { operation.cancel() }
            return (connection, isUse || idle != nil ? generation : nil)
        } catch {
            throw error.status
        }
    }

    private func checkIn(_ connection: DatabaseQueue, _ generation: Int?, of operation: IndexReadOperation) {
        let isKept = state.withLock { state in
            state.activeOperations[ObjectIdentifier(operation)] = nil
            // Idle connections hold memory, so the additional ones for long-running reads are closed.
            guard state.generation == generation, !state.isClosed, !operation.isCancelled,
                state.idleConnections.count < Self.width
            else {
                return false
            }
            state.idleConnections.append(connection)
            return true
        }
        if !isKept { try? connection.close() }
    }

    private func read<Result>(
        _ connection: DatabaseQueue,
        _ operation: IndexReadOperation,
        _ body: (IndexSnapshot) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        do {
            return try connection.inDatabase { database in
                try database.cachedStatement(sql: "BEGIN").execute()
                defer {
                    // First, so that a cancellation does not interrupt the rollback.
                    operation.detach()
                    try? database.cachedStatement(sql: "ROLLBACK").execute()
                }
                return try operation.withProgressHandler(database) {
                    let snapshot = try IndexSnapshot(database, operation, of: file)
                    defer { snapshot.end() }
                    return try body(snapshot)
                }
            }
        } catch let error as StatusError {
            throw operation.interruption ?? error
        } catch {
            throw operation.interruption ?? IndexDatabaseError(error).status
        }
    }
}
