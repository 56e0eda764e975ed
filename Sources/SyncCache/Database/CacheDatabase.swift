internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import Synchronization
internal import UTF8Text

/// An open file of the cache, with SQLite's WAL, and the transaction that is open in it.
///
/// There is one connection, which locks the file, so that no other process can open it and the index of the WAL is not a file. GRDB
/// serializes the calls; a transaction that spans several of them needs a caller that makes no others in between, as the engine is.
final class CacheDatabase: Sendable {
    /// The path of the file.
    let path: String
    private let queue: DatabaseQueue
    private let state: Mutex<State>

    private struct State {
        /// True if a transaction has been committed since the WAL was last synced.
        var hasUnsyncedCommits = false
        /// True if syncing the WAL has failed: the system may have dropped what it could not write, and not tell it again.
        var needsCheckpoint = false
        /// True if a statement of the open transaction has failed, and SQLite may have rolled it back.
        var hasFailed = false
        /// The number of changes of rows before the open transaction.
        var changeCount = 0
        /// The number of calls that have synced the WAL or a checkpoint.
        var syncCount = 0
        /// The damage that was found; `nil` for none.
        var damage: String?
        var isClosed = false
    }

    init(_ queue: DatabaseQueue, path: String, hasUnsyncedCommits: Bool) {
        self.queue = queue
        self.path = path
        state = Mutex(State(hasUnsyncedCommits: hasUnsyncedCommits))
    }

    /// The number of calls of ``synchronize()`` that had something to sync.
    var syncCount: Int { state.withLock { $0.syncCount } }

    /// The damage that was found since the file was opened; `nil` for none. After it, all calls fail.
    var damage: String? { state.withLock { $0.damage } }

    /// True if the file is no longer at its path, since somebody has removed it. What is written to it ends with the process.
    var isRemoved: Bool { path != Self.memoryPath && !PrivateFile.exists(path) }

    /// The path of a database in memory.
    static let memoryPath = ":memory:"

    /// Closes the file. After that, all calls fail.
    func close() {
        // Fails only if a statement is still running, which no call leaves behind.
        try? queue.close()
        state.withLock { $0.isClosed = true }
    }

    /// True after ``close()``.
    var isClosed: Bool { state.withLock { $0.isClosed } }
}

// MARK: Transactions

extension CacheDatabase {
    /// Calls `body`, which only reads.
    func read<Result>(_ body: (Database) throws -> Result) throws(StatusError) -> Result {
        try access("read", body)
    }

    /// Calls `body` in the open transaction. It begins one, if none is open.
    func write<Result>(_ body: (Database) throws -> Result) throws(StatusError) -> Result {
        do throws(StatusError) {
            return try access("written") { database in
                if !database.isInsideTransaction {
                    guard !state.withLock({ $0.hasFailed }) else {
                        throw CacheDatabaseError(SQLITE_ABORT, nil)
                    }
                    state.withLock { $0.changeCount = database.totalChangesCount }
                    try CacheStatement("BEGIN IMMEDIATE", database).run()
                }
                return try body(database)
            }
        } catch {
            state.withLock { $0.hasFailed = true }
            throw error
        }
    }

    /// Commits the open transaction, if there is one. One without changes writes nothing.
    ///
    /// - Throws: The error, after which the transaction is still open or rolled back.
    func commit() throws(StatusError) {
        guard !state.withLock({ $0.hasFailed }) else {
            throw StatusError(
                .unavailable,
                "The file \(path) could not be written. The transaction is rolled back.",
                file: location
            )
        }
        try access("written") { database in
            guard database.isInsideTransaction else { return }
            try CacheStatement("COMMIT", database).run()
            state.withLock { state in
                if database.totalChangesCount != state.changeCount { state.hasUnsyncedCommits = true }
            }
        }
    }

    /// Rolls back the open transaction, if there is one.
    func rollBack() {
        state.withLock { $0.hasFailed = false }
        // Fails only if the connection is closed or damaged, which the next call reports.
        try? queue.unsafeReentrantWrite { try $0.rollback() }
    }

    /// Makes all committed transactions durable, including those of an earlier process.
    ///
    /// The WAL is synced, with the folder when it is new. SQLite itself syncs it only before a checkpoint, since the file is open with
    /// `synchronous = NORMAL`.
    func synchronize() throws(StatusError) {
        let (isNeeded, needsCheckpoint) = state.withLock { ($0.hasUnsyncedCommits, $0.needsCheckpoint) }
        guard isNeeded else { return }
        do throws(StatusError) {
            try access("synced") { database in
                if needsCheckpoint {
                    try Self.checkpoint(database)
                } else {
                    try Self.synchronizeWAL(database)
                }
            }
        } catch {
            state.withLock { $0.needsCheckpoint = true }
            throw error
        }
        state.withLock { state in
            state.hasUnsyncedCommits = false
            state.needsCheckpoint = false
            state.syncCount += 1
        }
    }

    private static func synchronizeWAL(_ database: Database) throws {
        var file: UnsafeMutablePointer<sqlite3_file>?
        let code = sqlite3_file_control(database.sqliteConnection, "main", SQLITE_FCNTL_JOURNAL_POINTER, &file)
        guard code == SQLITE_OK else { throw CacheDatabaseError(code, database.sqliteConnection) }
        // A file without methods is not open: nothing has been written since the last checkpoint, which SQLite has synced.
        guard let file, let methods = file.pointee.pMethods else { return }
        #if canImport(Darwin)
        let flags = SQLITE_SYNC_FULL
        #else
        let flags = SQLITE_SYNC_NORMAL
        #endif
        let result = methods.pointee.xSync(file, flags)
        guard result == SQLITE_OK else { throw CacheDatabaseError(result, nil) }
    }

    /// Copies the WAL to the main file, which SQLite syncs.
    private static func checkpoint(_ database: Database) throws {
        let isBlocked = try CacheStatement("PRAGMA wal_checkpoint(TRUNCATE)", database).firstRow { try $0.integer(0) }
        guard isBlocked == 0 else { throw CacheDatabaseError(SQLITE_BUSY, nil) }
    }
}

// MARK: Errors

extension CacheDatabase {
    private func access<Result>(
        _ participle: String,
        _ body: (Database) throws -> Result
    ) throws(StatusError) -> Result {
        if let damage { throw damageError(damage) }
        do {
            return try queue.unsafeReentrantWrite(body)
        } catch let error as VisitorError {
            throw error.status
        } catch {
            let failure = CacheDatabaseError(error)
            guard failure.isCorruption || failure.isReadFailure else { throw failure.status(of: path, participle) }
            recordDamage(failure)
            throw damageError(failure.message)
        }
    }

    private var location: StatusError.FileLocation { StatusError.FileLocation(path: path) }

    private func damageError(_ damage: String) -> StatusError {
        StatusError(
            .dataLoss,
            "The file \(path) is damaged: \(damage). It is set aside when it is opened again, and what can be read is kept.",
            file: location
        )
    }

    /// Records damage for this process, and for the one that opens the file next: damage is not found again before it is read.
    ///
    /// A read that fails now may succeed then, so it is not recorded for others.
    private func recordDamage(_ failure: CacheDatabaseError) {
        let isFirst = state.withLock { state in
            defer { state.damage = state.damage ?? failure.message }
            return state.damage == nil
        }
        if isFirst, failure.isCorruption, !isRemoved { try? PrivateFile.create(path + CacheFile.damageMarkerSuffix) }
    }
}

/// The error of a closure that a caller has passed, which says nothing about the file.
struct VisitorError: Error {
    let status: StatusError

    /// Calls `body`, and wraps the error that it throws.
    static func wrapping<Result>(_ body: () throws(StatusError) -> Result) throws(VisitorError) -> Result {
        do throws(StatusError) {
            return try body()
        } catch {
            throw VisitorError(status: error)
        }
    }
}

extension CacheDatabaseError {
    /// The error of a call on a file.
    func status(of path: String, _ participle: String) -> StatusError {
        let file = StatusError.FileLocation(path: path)
        return switch code {
        case _ where isOutOfSpace:
            StatusError(
                .resourceExhausted,
                "The file \(path) cannot be \(participle): no space is left on the disk. Free some space.",
                file: file,
                cause: self
            )
        case SQLITE_TOOBIG:
            StatusError(.invalidArgument, "A value is too large for the file \(path): \(message).", file: file, cause: self)
        case SQLITE_BUSY, SQLITE_LOCKED:
            StatusError(
                .unavailable,
                "The file \(path) is in use by another process, or is open already.",
                file: file,
                cause: self
            )
        default:
            StatusError(.unavailable, "The file \(path) cannot be \(participle): \(message).", file: file, cause: self)
        }
    }
}

extension CacheDatabase {
    /// Copies the WAL to the main file.
    func checkpoint() throws(StatusError) {
        try access("written", Self.checkpoint)
    }

    /// Copies the contents to a new file, which is durable when it returns.
    func copy(to newPath: String) throws(StatusError) {
        try PrivateFile.remove(newPath)
        try PrivateFile.create(newPath)
        try access("copied") { database in
            let statement = try CacheStatement(uncached: "VACUUM INTO ?", database)
            statement.bind(newPath, at: 1)
            try statement.run()
        }
        try PrivateFile.synchronize(newPath)
    }
}
