internal import DocumentModel
internal import GRDB
internal import GRDBSQLite

/// Why SQLite could not do something.
struct IndexFailure: Error, CustomStringConvertible {
    /// SQLite's result code, without the extended part.
    let code: Int32
    let message: String

    /// Takes a result code of a call on a connection.
    init(_ code: Int32, _ connection: OpaquePointer?) {
        self.code = code & 0xff
        message = connection.flatMap { sqlite3_errmsg($0) }.map { String(cString: $0) } ?? String(cString: sqlite3_errstr(code))
    }

    /// Something is in the index that can't be.
    init(damage message: String) {
        self.init(code: SQLITE_CORRUPT, message: message)
    }

    /// Somebody else keeps it from being done.
    init(busy message: String) {
        self.init(code: SQLITE_BUSY, message: message)
    }

    private init(code: Int32, message: String) {
        self.code = code
        self.message = message
    }

    /// Takes what GRDB or this folder's own code throws.
    init(_ error: any Error) {
        switch error {
        case let failure as IndexFailure: self = failure
        case let error as DatabaseError:
            self.init(code: error.resultCode.primaryResultCode.rawValue, message: error.message ?? "\(error)")
        default: self.init(damage: "\(error)")
        }
    }

    /// Whether the file is not what was written, so that it has to be made anew.
    var isDamage: Bool { code == SQLITE_CORRUPT || code == SQLITE_NOTADB }

    /// Whether another file in its place could be used: it is damaged, or can't be opened.
    var isOfFile: Bool { isDamage || [SQLITE_CANTOPEN, SQLITE_PERM, SQLITE_READONLY, SQLITE_AUTH].contains(code) }

    /// Another file is where the one was that is in use.
    static let replaced = IndexFailure(damage: "its file was replaced or removed while it was in use")

    var description: String { "SQLite error \(code): \(message)" }

    /// The error for whoever needs the index.
    var status: StatusError {
        switch code {
        case SQLITE_FULL:
            StatusError(
                .resourceExhausted,
                "The index can't be written: no space left on the disk. Free some space. Documents can be read and written without "
                    + "it, and it goes on by itself.",
                cause: self
            )
        case SQLITE_INTERRUPT, SQLITE_ABORT:
            StatusError(.cancelled, "The query was cancelled.", cause: self)
        default:
            StatusError(
                .unavailable,
                "The index can't be used: \(message). Documents can be read and written without it, and it is tried again.",
                cause: self
            )
        }
    }

    /// Runs `body`, which uses GRDB.
    static func catching<Result>(_ body: () throws -> Result) throws(IndexFailure) -> Result {
        do {
            return try body()
        } catch {
            throw IndexFailure(error)
        }
    }
}

extension Database {
    /// Whether the database's file is not the one any more that has its name.
    var hasMoved: Bool {
        var moved: Int32 = 0
        let code = sqlite3_file_control(sqliteConnection, "main", SQLITE_FCNTL_HAS_MOVED, &moved)
        return code == SQLITE_OK && moved != 0
    }
}
