internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import Synchronization

/// One reading of the index, which may be cancelled from elsewhere.
final class IndexReader: Sendable {
    private struct State {
        var connection: DatabaseQueue?
        var isCancelled = false
        var isLong = false
        /// Why a statement was ended.
        var refusal: StatusError?
    }

    private let state = Mutex(State())
    private let start = ContinuousClock.now
    private let queue: WorkQueue

    /// After what time a reading is long, and the others get another thread for it.
    private static let shortTime = Duration.milliseconds(100)
    /// How many may be long at the same time: each holds a connection with its memory.
    private static let maximumLongCount = 12

    /// - Parameter queue: Where it reads.
    init(on queue: WorkQueue) {
        self.queue = queue
    }

    /// Ends reading; the last call.
    func finish() {
        if state.withLock({ $0.isLong }) { queue.endLongJob() }
    }

    /// Whether to stop reading.
    var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Notes, now and then, that it goes on.
    ///
    /// - Throws: `.cancelled` when it is to end; `.unavailable` when it takes long and too many others do.
    func goOn() throws(StatusError) {
        let (isCancelled, isLong) = state.withLock { ($0.isCancelled, $0.isLong) }
        if isCancelled { throw StatusError(.cancelled, "The query was cancelled.") }
        guard !isLong, ContinuousClock.now - start > Self.shortTime else { return }
        guard queue.beginLongJob(limit: Self.maximumLongCount) else {
            var error = StatusError(
                .unavailable,
                "\(Self.maximumLongCount) queries that take long are running, and this one takes long too. Try again later, or ask so that an "
                    + "index helps: query.explain tells how a query is answered."
            )
            error.retryAfter = .seconds(1)
            throw error
        }
        state.withLock { $0.isLong = true }
    }

    /// Why a statement was ended before its time; nil when none was.
    var refusal: StatusError? { state.withLock { $0.refusal } }

    /// Runs `body`, and lets it be ended within a statement too: one step of SQLite may count a million rows.
    func whileGoingOn<Result>(_ database: Database, _ body: () throws -> Result) rethrows -> Result {
        let connection = database.sqliteConnection
        // Held by the caller, and so for as long as the handler is there.
        let context = Unmanaged.passUnretained(self).toOpaque()
        sqlite3_progress_handler(
            connection,
            Self.checkedSteps,
            { context in
                guard let context else { return 0 }
                return Unmanaged<IndexReader>.fromOpaque(context).takeUnretainedValue().endsStatement ? 1 : 0
            },
            context
        )
        defer { sqlite3_progress_handler(connection, 0, nil, nil) }
        return try body()
    }

    /// After how many steps of SQLite's machine, a few for a row, it is asked whether to go on.
    private static let checkedSteps: Int32 = 10_000

    private var endsStatement: Bool {
        do throws(StatusError) {
            try goOn()
            return false
        } catch {
            state.withLock { $0.refusal = error }
            return true
        }
    }

    /// Notes which connection is used.
    func begin(_ connection: DatabaseQueue) {
        state.withLock { $0.connection = connection }
    }

    /// After this the connection may be another's.
    func end() {
        state.withLock { $0.connection = nil }
    }

    /// Ends what the connection is doing, and everything that is begun with it afterwards.
    func cancel() {
        state.withLock { state in
            state.isCancelled = true
            state.connection?.interrupt()
        }
    }
}
