internal import DocumentModel
internal import GRDB
internal import GRDBSQLite

/// An SQLite error, or a violation of the index's invariants.
struct IndexDatabaseError: Error, CustomStringConvertible {
    /// SQLite's primary result code.
    let code: Int32
    let message: String

    /// Creates an error from the result code of a call on a connection.
    init(_ code: Int32, _ connection: OpaquePointer?) {
        self.code = code & 0xff
        message = connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? String(cString: sqlite3_errstr(code))
    }

    /// Creates an error for inconsistent contents.
    init(corruption message: String) {
        self.init(code: SQLITE_CORRUPT, message: message)
    }

    /// Creates an error for an operation that another connection blocks, or that is not possible now.
    init(busy message: String) {
        self.init(code: SQLITE_BUSY, message: message)
    }

    private init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// Wraps an error from GRDB.
    init(_ error: any Error) {
        switch error {
        case let error as IndexDatabaseError: self = error
        case let error as DatabaseError:
            self.init(code: error.resultCode.primaryResultCode.rawValue, message: error.message ?? "\(error)")
        default: self.init(corruption: "\(error)")
        }
    }

    /// True if the file is corrupt and has to be rebuilt.
    var isCorruption: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// True if replacing the file would help: it is corrupt or cannot be opened.
    var isFileUnusable: Bool { isCorruption || [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH].contains(code) }

    /// The error for an index file that was replaced or removed while it was open.
    static let fileReplaced = IndexDatabaseError(corruption: "its file was replaced or removed while it was open")

    var description: String { "SQLite error \(code): \(message)" }

    /// The error as clients see it.
    var status: StatusError {
        switch code {
        case SQLITE_FULL:
            StatusError(
                .resourceExhausted,
                "The index cannot be written: no space left on the disk. Free some space; indexing then resumes automatically. Document "
                    + "reads and writes are unaffected.",
                cause: self
            )
        case SQLITE_INTERRUPT, SQLITE_ABORT:
            StatusError(.cancelled, "The query was cancelled.", cause: self)
        default:
            StatusError(
                .unavailable,
                "The index cannot be used: \(message). Hearth retries automatically. Document reads and writes are unaffected.",
                cause: self
            )
        }
    }

    /// Runs `body` and wraps the errors that it throws.
    static func catching<Result>(_ body: () throws -> Result) throws(IndexDatabaseError) -> Result {
        do {
            return try body()
        } catch {
            throw IndexDatabaseError(error)
        }
    }
}

extension Database {
    /// True if the open file is no longer the one with the database's path.
    var hasMoved: Bool {
        var moved: Int32 = 0
        let code = sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return code == SQLITE_OK && moved != 0
    }
}
