internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import UTF8Text

/// A prepared statement, used through SQLite's C API, at a third of the cost of GRDB's bindings and rows.
///
/// It must be used on the thread of its connection, while the connection is accessed.
struct CacheStatement {
    private let prepared: Statement
    private var statement: OpaquePointer { prepared.sqliteStatement }

    /// Returns a statement from the statement cache of the connection.
    init(_ sql: String, _ database: Database) throws {
        prepared = try database.cachedStatement(sql: sql)
        sqlite3_reset(statement)
    }

    /// Prepares a statement that is not shared, so that the same SQL can be run inside its loop over rows.
    init(uncached sql: String, _ database: Database) throws {
        prepared = try database.makeStatement(sql: sql)
    }

    /// Binds an integer to a parameter; the first index is 1.
    func bind(_ integer: Int64?, at index: Int32) {
        if let integer { sqlite3_bind_int64(statement, index, integer) } else { sqlite3_bind_null(statement, index) }
    }

    /// Binds a number.
    func bind(_ number: UInt64, at index: Int32) {
        sqlite3_bind_int64(statement, index, Int64(clamping: number))
    }

    /// Binds a count or a truth value.
    func bind(_ number: Int, at index: Int32) {
        sqlite3_bind_int64(statement, index, Int64(number))
    }

    /// Binds the microseconds of a time.
    func bind(_ time: Timestamp?, at index: Int32) {
        bind(time?.microseconds, at: index)
    }

    /// Binds a copy of a text.
    func bind(_ text: String?, at index: Int32) {
        guard var text else { return bind(nil as Int64?, at: index) }
        text.withUTF8 { bindText(UnsafeRawBufferPointer($0), at: index) }
    }

    /// Binds a copy of a text, given as UTF-8.
    func bind(text: [UInt8]?, at index: Int32) {
        guard let text else { return bind(nil as Int64?, at: index) }
        text.withUnsafeBytes { bindText($0, at: index) }
    }

    /// Binds a copy of bytes.
    func bind(bytes: [UInt8], at index: Int32) {
        bytes.withUnsafeBytes { bytes in
            guard let start = bytes.baseAddress, bytes.count > 0 else {
                sqlite3_bind_zeroblob(statement, index, 0)
                return
            }
            sqlite3_bind_blob(statement, index, start, Int32(clamping: bytes.count), Self.transient)
        }
    }

    private func bindText(_ text: UnsafeRawBufferPointer, at index: Int32) {
        guard let start = text.bindMemory(to: CChar.self).baseAddress, text.count > 0 else {
            sqlite3_bind_text(statement, index, "", 0, Self.transient)
            return
        }
        sqlite3_bind_text(statement, index, start, Int32(clamping: text.count), Self.transient)
    }

    /// `SQLITE_TRANSIENT`, a macro that Swift cannot import: -1 as a function pointer.
    private static let transient = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
}

extension CacheStatement {
    /// Runs a statement that returns no rows.
    func run() throws {
        defer { sqlite3_reset(statement) }
        _ = try step()
    }

    /// Calls `body` with each row.
    func forEachRow(_ body: (CacheRow) throws -> Void) throws {
        defer { sqlite3_reset(statement) }
        while try step() { try body(CacheRow(statement: statement)) }
    }

    /// Calls `body` with each row until it returns false.
    func visitRows(while body: (CacheRow) throws -> Bool) throws {
        defer { sqlite3_reset(statement) }
        while try step(), try body(CacheRow(statement: statement)) {}
    }

    /// Returns the result of `body` for the first row; `nil` if there is none.
    func firstRow<Result>(_ body: (CacheRow) throws -> Result) throws -> Result? {
        defer { sqlite3_reset(statement) }
        return try step() ? body(CacheRow(statement: statement)) : nil
    }

    private func step() throws(CacheDatabaseError) -> Bool {
        let code = sqlite3_step(statement)
        switch code {
        case SQLITE_ROW: return true
        case SQLITE_DONE: return false
        default: throw CacheDatabaseError(code, sqlite3_db_handle(statement))
        }
    }
}

/// A row of a result. It is valid until the next one.
struct CacheRow {
    fileprivate let statement: OpaquePointer

    /// Returns the integer in a column; the first index is 0.
    ///
    /// - Throws: An error of corruption if it is something else.
    func integer(_ column: Int32) throws -> Int64 {
        guard sqlite3_column_type(statement, column) == SQLITE_INTEGER else { throw unexpectedType(column) }
        return sqlite3_column_int64(statement, column)
    }

    /// Returns the integer in a column; `nil` for null.
    func optionalInteger(_ column: Int32) throws -> Int64? {
        isNull(column) ? nil : try integer(column)
    }

    /// Returns the number in a column, which is not negative.
    func number(_ column: Int32) throws -> UInt64 {
        guard let number = UInt64(exactly: try integer(column)) else { throw unexpectedType(column) }
        return number
    }

    /// Returns the time in a column.
    func time(_ column: Int32) throws -> Timestamp {
        try Timestamp(microseconds: integer(column))
    }

    /// Returns the time in a column; `nil` for null.
    func optionalTime(_ column: Int32) throws -> Timestamp? {
        isNull(column) ? nil : try time(column)
    }

    /// Returns the bytes in a column.
    func bytes(_ column: Int32) -> [UInt8] {
        let start = sqlite3_column_blob(statement, column)
        return [UInt8](UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column))))
    }

    /// Returns the text in a column.
    func text(_ column: Int32) throws -> String {
        guard let text = try optionalText(column) else { throw unexpectedType(column) }
        return text
    }

    /// Returns the text in a column; `nil` for null.
    func optionalText(_ column: Int32) throws -> String? {
        guard !isNull(column) else { return nil }
        let start = sqlite3_column_blob(statement, column)
        let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
        guard let text = String(validating: bytes, as: UTF8.self) else { throw unexpectedType(column) }
        return text
    }

    private func isNull(_ column: Int32) -> Bool {
        sqlite3_column_type(statement, column) == SQLITE_NULL
    }

    private func unexpectedType(_ column: Int32) -> CacheDatabaseError {
        let name = sqlite3_column_name(statement, column).map { String(cString: $0) } ?? "\(column)"
        return CacheDatabaseError(corruption: "the column \(name) has an unexpected value")
    }
}
