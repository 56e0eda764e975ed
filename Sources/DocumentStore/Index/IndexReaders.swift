internal import DocumentModel
internal import GRDB
internal import Synchronization

/// The connections that read the index, each used by one reader at a time, on threads of their own.
final class IndexReaders: Sendable {
    /// How many may read at the same time.
    private static let width = 4

    private struct State {
        var idle: [DatabaseQueue] = []
        /// Counts the files that there were, so that no connection outlives its file.
        var generation = 0
        var isClosed = false
        var active: [ObjectIdentifier: IndexReader] = [:]
    }

    private let state = Mutex(State())
    private let queue = WorkQueue(label: "hearth.queries", width: width)
    private let file: IndexFile

    init(_ file: IndexFile) {
        self.file = file
    }

    /// Runs `body` with a snapshot.
    func read<Result: Sendable>(
        _ body: @escaping @Sendable (IndexSnapshot) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let reader = IndexReader(on: queue)
        return try await cancellable(reader) { () async throws(StatusError) in
            try await self.queue.run { () throws(StatusError) in
                defer { reader.finish() }
                let (connection, generation) = try self.take(for: reader)
                defer { self.giveBack(connection, generation, of: reader) }
                reader.begin(connection)
                return try self.read(connection, reader, body)
            }
        }
    }

    /// Closes all connections; those in use, when they are not any more.
    func closeAll() {
        let idle = state.withLock { state in
            state.generation += 1
            defer { state.idle = [] }
            return state.idle
        }
        for connection in idle { try? connection.close() }
    }

    /// Interrupts whoever reads, and lets nobody else.
    func close() {
        let active = state.withLock { state in
            state.isClosed = true
            return Array(state.active.values)
        }
        for reader in active { reader.cancel() }
        closeAll()
    }
}

extension IndexReaders {
    private func cancellable<Result: Sendable>(
        _ reader: IndexReader,
        _ body: () async throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        let result: Swift.Result<Result, StatusError> = await withTaskCancellationHandler {
            do throws(StatusError) {
                return .success(try await body())
            } catch {
                return .failure(error)
            }
        } onCancel: {
            reader.cancel()
        }
        return try result.get()
    }

    private func take(for reader: IndexReader) throws(StatusError) -> (DatabaseQueue, generation: Int) {
        let (idle, generation, isClosed) = state.withLock { ($0.idle.popLast(), $0.generation, $0.isClosed) }
        guard !isClosed else { throw StatusError(.unavailable, "Hearth is stopping.") }
        do throws(IndexFailure) {
            let connection = if let idle { idle } else { try file.openForReading() }
            // The store may be closed since.
            let isClosed = state.withLock { state in
                state.active[ObjectIdentifier(reader)] = reader
                return state.isClosed
            }
            if isClosed { reader.cancel() }
            return (connection, generation)
        } catch {
            throw error.status
        }
    }

    private func giveBack(_ connection: DatabaseQueue, _ generation: Int, of reader: IndexReader) {
        let isKept = state.withLock { state in
            state.active[ObjectIdentifier(reader)] = nil
            // Each holds memory: those that were needed beside ones that take long are not kept.
            guard state.generation == generation, !state.isClosed, !reader.isCancelled, state.idle.count < Self.width else {
                return false
            }
            state.idle.append(connection)
            return true
        }
        if !isKept { try? connection.close() }
    }

    private func read<Result>(
        _ connection: DatabaseQueue,
        _ reader: IndexReader,
        _ body: (IndexSnapshot) throws(StatusError) -> Result
    ) throws(StatusError) -> Result {
        do {
            return try connection.inDatabase { database in
                try database.execute(sql: "BEGIN")
                defer {
                    // First, so that no interruption hits what follows.
                    reader.end()
                    try? database.execute(sql: "ROLLBACK")
                }
                return try reader.whileGoingOn(database) {
                    let snapshot = try IndexSnapshot(database, reader, of: file)
                    defer { snapshot.end() }
                    return try body(snapshot)
                }
            }
        } catch let error as StatusError {
            throw reader.refusal ?? error
        } catch {
            throw reader.refusal ?? IndexFailure(error).status
        }
    }
}
