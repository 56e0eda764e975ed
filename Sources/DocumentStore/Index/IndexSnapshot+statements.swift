internal import DocumentModel
internal import GRDB

extension IndexSnapshot {
    /// A statement that runs through a scan's rows in a space, and looks each up among the entries of some values.
    func statement(
        for scan: IndexScan,
        _ bounds: IndexScan.Bounds,
        looks: Int
    ) throws -> (sql: String, IndexStatement) {
        let direction = scan.isDescending ? "DESC" : "ASC"
        // Each look is for what the one before found, so that nothing is looked up in vain.
        let joins: String = (0..<looks).map { number in
            let (space, value) = IndexCursor.Look.parameters(number)
            let known = number == 0 ? "row" : "look\(number - 1)"
            return " LEFT JOIN entries look\(number) ON look\(number).space = ?\(space) AND look\(number).value = ?\(value)"
                + " AND look\(number).name = \(known).name"
        }.joined()
        let found = (0..<looks).map { "(look\($0).name IS NOT NULL)" }.joined(separator: " + ")
        let foundColumn = looks == 0 ? "" : ", \(found)"
        let sql =
            switch scan.subject {
            case .documents:
                "SELECT x'', row.name\(foundColumn) FROM documents row\(joins) WHERE \(Self.documentsCondition)"
                    + " ORDER BY row.name \(direction)"
            case .values, .elements, .composite:
                "SELECT row.value, row.name\(foundColumn) FROM entries row\(joins) WHERE \(Self.entriesCondition(bounds))"
                    + " ORDER BY row.value \(direction), row.name \(direction)"
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
    func count(_ scan: IndexScan, _ space: Space, limit: Int?) throws -> Int {
        let bounds = scan.bounds.inside(space.scope.prefix)
        guard let bounds else { return 0 }
        let rows =
            scan.subject == .documents
            ? "FROM documents row WHERE \(Self.documentsCondition)" : "FROM entries row WHERE \(Self.entriesCondition(bounds))"
        let sql = limit == nil ? "SELECT count(*) \(rows)" : "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT ?8)"
        let statement = try IndexStatement(sql, database)
        defer { statement.reset() }
        statement.bind(space.number, bounds)
        if let limit { statement.bind(Int64(limit), at: 8) }
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    private static let documentsCondition = "row.scope = ?1 AND row.name >= ?3 AND row.name < ?5"

    private static func entriesCondition(_ bounds: IndexScan.Bounds) -> String {
        // SQLite compares pairs row by row, which takes three times as long.
        if bounds.lower.value == bounds.upper.value, bounds.names == nil {
            return "row.space = ?1 AND row.value = ?2 AND row.name >= ?3 AND row.name < ?5"
        }
        return "row.space = ?1 AND (row.value, row.name) >= (?2, ?3) AND (row.value, row.name) < (?4, ?5)"
            + (bounds.names == nil ? "" : " AND row.name >= ?6 AND row.name < ?7")
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

extension IndexCursor.Look {
    /// The parameters that the look with a number takes in a statement, behind those of the bounds.
    static func parameters(_ number: Int) -> (space: Int32, value: Int32) {
        let first = boundsParameters + 1 + 2 * Int32(number)
        return (first, first + 1)
    }

    /// How many parameters the bounds of a scan have.
    private static let boundsParameters: Int32 = 7
}

extension IndexStatement {
    /// Binds where a look is.
    func bind(_ look: IndexCursor.Look, number: Int) {
        let parameters = IndexCursor.Look.parameters(number)
        bind(look.space, at: parameters.space)
        bind(look.value, at: parameters.value)
    }
}
