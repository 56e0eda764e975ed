internal import DocumentModel
internal import GRDB

extension IndexSnapshot {
    /// A statement that runs through a scan's rows in a space.
    func statement(for scan: IndexScan, _ bounds: IndexScan.Bounds) throws -> (sql: String, IndexStatement) {
        let direction = scan.isDescending ? "DESC" : "ASC"
        let sql =
            switch scan.subject {
            case .documents:
                "SELECT x'', name FROM documents WHERE \(Self.documentsCondition) ORDER BY name \(direction)"
            case .values, .elements, .composite:
                "SELECT value, name FROM entries WHERE \(Self.entriesCondition(bounds)) ORDER BY value \(direction), name \(direction)"
            }
        return (sql, try free(sql))
    }

    /// A statement that tells whether a name, the third parameter, is among the entries of a value, the second, in a space.
    func statementForLooks() throws -> (sql: String, IndexStatement) {
        let sql = "SELECT 1 FROM entries WHERE space = ?1 AND value = ?2 AND name = ?3"
        return (sql, try free(sql))
    }

    private func free(_ sql: String) throws -> IndexStatement {
        try statements[sql]?.popLast() ?? IndexStatement(separate: sql, database, &owned)
    }

    /// Takes a statement back for the next cursor.
    func giveBack(_ statement: IndexStatement, _ sql: String) {
        guard !isEnded else { return }
        statement.reset()
        statements[sql, default: []].append(statement)
    }

    /// How many rows a scan has in a space.
    func count(_ scan: IndexScan, _ space: Int64, prefix: [UInt8], limit: Int?) throws -> Int {
        let bounds = scan.bounds.inside(prefix)
        guard let bounds else { return 0 }
        let rows =
            scan.subject == .documents
            ? "FROM documents WHERE \(Self.documentsCondition)" : "FROM entries WHERE \(Self.entriesCondition(bounds))"
        let sql = limit == nil ? "SELECT count(*) \(rows)" : "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT ?8)"
        let statement = try IndexStatement(sql, database)
        defer { statement.reset() }
        statement.bind(space, bounds)
        if let limit { statement.bind(Int64(limit), at: 8) }
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    private static let documentsCondition = "scope = ?1 AND name >= ?3 AND name < ?5"

    private static func entriesCondition(_ bounds: IndexScan.Bounds) -> String {
        // SQLite compares pairs row by row, which takes three times as long.
        if bounds.lower.value == bounds.upper.value, bounds.names == nil {
            return "space = ?1 AND value = ?2 AND name >= ?3 AND name < ?5"
        }
        return "space = ?1 AND (value, name) >= (?2, ?3) AND (value, name) < (?4, ?5)"
            + (bounds.names == nil ? "" : " AND name >= ?6 AND name < ?7")
    }

    /// Runs `body`, and throws its errors as a reader sees them.
    func failing<Result>(_ body: () throws -> Result) throws(StatusError) -> Result {
        try checkCancellation()
        do {
            return try body()
        } catch let error as StatusError {
            throw error
        } catch {
            throw IndexFailure(error).status
        }
    }
}
