internal import GRDB
internal import GRDBSQLite

/// A prepared statement, driven through SQLite's own calls: they cost a third of what bindings and rows as Swift values do.
///
/// It belongs to its connection and is used only where that is.
struct IndexStatement {
    private let statement: OpaquePointer

    /// The statement, which the connection keeps for the next time.
    init(_ sql: String, _ database: Database) throws {
        statement = try database.cachedStatement(sql: sql).sqliteStatement
        sqlite3_reset(statement)
    }

    /// A statement of its own, for as long as the connection lives: it may be used while another one with the same text is.
    init(separate sql: String, _ database: Database, _ owner: inout [Statement]) throws {
        let made = try database.makeStatement(sql: sql)
        owner.append(made)
        statement = made.sqliteStatement
    }

    /// Binds a number to a parameter; the first is 1.
    func bind(_ number: Int64, at index: Int32) {
        sqlite3_bind_int64(statement, index, number)
    }

    /// Binds bytes that stay where they are until the statement has been run.
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
            sqlite3_bind_blob(statement, index, start, Int32(bytes.count), Self.copied)
        }
    }

    /// Goes to the next row; false at the end.
    func step() throws(IndexFailure) -> Bool {
        let code = sqlite3_step(statement)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default:
            let failure = IndexFailure(code, sqlite3_db_handle(statement))
            sqlite3_reset(statement)
            throw failure
        }
    }

    /// Runs a statement that gives no rows, and makes it ready for the next time.
    func run() throws(IndexFailure) {
        _ = try step()
        sqlite3_reset(statement)
    }

    /// Makes the statement ready for the next time.
    func reset() {
        sqlite3_reset(statement)
    }

    /// The number in a column of the row; the first is 0.
    func integer(_ column: Int32) -> Int64 {
        sqlite3_column_int64(statement, column)
    }

    /// Whether a column of the row is null.
    func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    /// The bytes in a column of the row, until the next step.
    func bytes(_ column: Int32) -> UnsafeRawBufferPointer {
        let start = sqlite3_column_blob(statement, column)
        return UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
    }

    /// `SQLITE_TRANSIENT`, a macro that Swift does not see: -1 in the place of a function.
    private static let copied = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}
