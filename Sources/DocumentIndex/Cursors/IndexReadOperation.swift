internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import StorageIO
internal import Synchronization

/// A read of the index, which can be cancelled from another thread.
final class IndexReadOperation: Sendable {
    private struct State {
        var connection: DatabaseQueue?
        var isCancelled = false
        var isLongRunning = false
        /// The processor time of the operation's thread at the first check.
        var processorStart: Duration?
        /// The reason why a running statement was interrupted.
        var interruption: StatusError?
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now
    private let queue: WorkQueue

    /// The processor time after which an operation counts as long-running, and the queue gets another thread in its place.
    private static let longRunningThreshold = Duration.milliseconds(100)
    /// The duration after which an operation counts as long-running in any case: it waits for the disk. A shorter wait may be for a
    /// processor, which on a busy machine says nothing about the query.
    private static let maximumWait = Duration.seconds(1)
    /// The maximum number of long-running operations: each holds a connection with its page cache.
    private static let maximumLongRunningCount = 12

    /// - Parameter queue: The queue that the operation runs on.
    init(on queue: WorkQueue) {
        self.queue = queue
    }

    /// Ends the operation. No other call may follow.
    func finish() {
        if state.withLock({ $0.isLongRunning }) { queue.endLongJob() }
    }

    /// True if the operation was cancelled.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Checks whether the operation may continue. Called periodically, on the thread of the operation.
    ///
    /// - Throws: `.cancelled` after ``cancel()``; `.unavailable` when the operation has become long-running and too many others
    ///   already are.
    func check() throws(StatusError) {
        let (isCancelled, isLongRunning, processorStart) = state.withLock { state in
            if state.processorStart == nil { state.processorStart = .threadProcessorTime }
            return (state.isCancelled, state.isLongRunning, state.processorStart ?? .zero)
        }
        if isCancelled { throw StatusError(.cancelled, "The query was cancelled.") }
        let elapsed = ContinuousClock.now - start
        guard !isLongRunning, elapsed > Self.longRunningThreshold else { return }
        guard elapsed > Self.maximumWait || .threadProcessorTime - processorStart > Self.longRunningThreshold else { return }
        guard queue.beginLongJob(limit: Self.maximumLongRunningCount) else {
            var error = StatusError(
                .unavailable,
                "This query is long-running, and \(Self.maximumLongRunningCount) others are already active. Try again later, or "
                    + "change the query so that an index supports it: query.explain shows its plan."
            )
            error.retryAfter = .seconds(1)
            throw error
        }
        state.withLock { $0.isLongRunning = true }
    }

    /// The reason why a running statement was interrupted; `nil` if none was.
    var interruption: StatusError? { state.withLock { $0.interruption } }

    /// Runs `body` with a progress handler that can interrupt a running statement: one step of SQLite may count a million rows.
    func withProgressHandler<Result>(_ database: Database, _ body: () throws -> Result) rethrows -> Result {
        let connection = database.sqliteConnection
        // The caller retains this object while the handler is set.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            connection,
            Self.progressInterval,
            { context in
                guard let context else { return 0 }
                return Unmanaged<IndexReadOperation>.fromOpaque(context).takeUnretainedValue().shouldInterrupt ? 1 : 0
            },
            context
        )
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try body()
    }

    /// The number of SQLite virtual machine instructions, a few per row, between two calls of the progress handler.
    private static let progressInterval: Int32 = 10_000

    private var shouldInterrupt: Bool {
        do throws(StatusError) {
            try check()
            return false
        } catch {
            state.withLock { $0.interruption = error }
            return true
        }
    }

    /// Sets the connection that ``cancel()`` interrupts.
    func attach(_ connection: DatabaseQueue) {
        state.withLock { $0.connection = connection }
    }

    /// Clears the connection, so that another operation can use it.
    func detach() {
        state.withLock { $0.connection = nil }
    }

    /// Interrupts the running statement, and makes every later one fail.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.interrupt()
        }
    }
}
