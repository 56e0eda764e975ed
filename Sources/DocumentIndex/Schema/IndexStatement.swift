internal import GRDB
internal import GRDBSQLite

/// A prepared statement, used through SQLite's C API, at a third of the cost of GRDB's bindings and rows.
///
/// It belongs to its connection and must be used on the connection's thread.
struct IndexStatement {
    private let statement: OpaquePointer

    /// Returns a statement from the connection's statement cache.
    init(_ sql: String, _ database: Database) throws {
        statement = try database.cachedStatement(sql: sql).sqliteStatement
        sqlite3_reset(statement)
    }

    /// Prepares a statement that is not shared, so that it can be used together with another one with the same SQL. It lives as
    /// long as `owner`.
    init(uncached sql: String, _ database: Database, _ owner: inout [Statement]) throws {
        let prepared = try database.makeStatement(sql: sql)
        owner.append(prepared)
        statement = prepared.sqliteStatement
    }

    /// Binds an integer to a parameter; the first index is 1.
    func bind(_ integer: Int64, at index: Int32) {
        sqlite3_bind_int64(statement, index, integer)
    }

    /// Binds null.
    func bindNull(at index: Int32) {
        sqlite3_bind_null(statement, index)
    }

    /// Binds bytes without a copy. They must stay valid until the statement is reset.
    func bind(unowned bytes: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = bytes.baseAddress, bytes.count > 0 else {
            sqlite3_bind_zeroblob(statement, index, 0)
            return
        }
        sqlite3_bind_blob(statement, index, start, Int32(bytes.count), nil)
    }

    /// Binds a copy of bytes.
    func bind(_ bytes: [UInt8], at index: Int32) {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count > 0 else {
                sqlite3_bind_zeroblob(statement, index, 0)
                return
            }
            sqlite3_bind_blob(statement, index, start, Int32(bytes.count), Self.transient)
        }
    }

    /// Advances to the next row; `false` at the end.
    func step() throws(IndexDatabaseError) -> Bool {
        let code = sqlite3_step(statement)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let failure = IndexDatabaseError(code, sqlite3_db_handle(statement))
            sqlite3_reset(statement)
            throw failure
        }
    }

    /// Runs a statement that returns no rows, and resets it.
    func run() throws(IndexDatabaseError) {
        _ = try step()
        sqlite3_reset(statement)
    }

    /// Resets the statement, so that it can be run again.
    func reset() {
        sqlite3_reset(statement)
    }

    /// Returns the integer in a column of the row; the first index is 0.
    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(statement, column)
    }

    /// True if a column of the row is null.
    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    /// Returns the bytes in a column of the row. They are valid until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// Returns the text in a column of the row; `nil` if it is null or not UTF-8.
    func text(_ column: Int32) -> String? {
        isNull(column) ? nil : String(validating: bytes(column), as: UTF8.self)
    }

    /// `SQLITE_TRANSIENT`, a macro that Swift cannot import: -1 as a function pointer.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
