internal import GRDB
internal import GRDBSQLite

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// An SQLite error, or contents that no version of Hearth writes.
struct CacheDatabaseError: Error, CustomStringConvertible {
    /// SQLite's primary result code.
    let code: Int32
    let message: String
    /// SQLite's extended result code.
    private let extendedCode: Int32
    /// The `errno` of a failed system call; 0 if it is not known.
    private let systemError: Int32

    /// Creates an error from the result code of a call on a connection, directly after the call.
    init(_ code: Int32, _ connection: OpaquePointer?) {
        // SQLite itself stores it only when the statement is reset.
        let systemError = code & 0xff == SQLITE_IOERR ? errno : 0
        let message = connection.flatMap { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)
        self.init(code, message: message.map { String(cString: $0) } ?? "unknown error", systemError: systemError)
    }

    /// Creates an error for inconsistent contents.
    init(corruption message: String) {
        self.init(SQLITE_CORRUPT, message: message)
    }

    private init(_ extendedCode: Int32, message: String, systemError: Int32 = 0) {
        code = extendedCode & 0xff
        self.message = message
        self.extendedCode = extendedCode
        self.systemError = systemError
    }

    /// Wraps an error from GRDB.
    init(_ error: any Error) {
        switch error {
        case let error as CacheDatabaseError:
            self = error
        case let error as DatabaseError:
            self.init(error.extendedResultCode.rawValue, message: error.message ?? "\(error)")
        default:
            self.init(corruption: "\(error)")
        }
    }

    /// True if the contents of the file are damaged: SQLite says so, or the tables are not those of the schema, or break its rules.
    var isCorruption: Bool {
        [SQLITE_CORRUPT, SQLITE_NOTADB, SQLITE_ERROR, SQLITE_CONSTRAINT, SQLITE_MISMATCH].contains(code)
    }

    /// True if the system cannot read a part of the file, now or ever.
    var isReadFailure: Bool {
        // READ, SHORT_READ, DATA and CORRUPTFS. The codes are no constants in Swift.
        code == SQLITE_IOERR && [1, 2, 32, 33].contains(extendedCode >> 8)
    }

    /// True if there is no space for what is written, or the file may not become longer.
    var isOutOfSpace: Bool {
        code == SQLITE_FULL || code == SQLITE_IOERR && [ENOSPC, EDQUOT, EFBIG].contains(systemError)
    }

    var description: String { "SQLite error \(code): \(message)" }
}
