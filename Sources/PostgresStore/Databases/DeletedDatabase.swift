internal import DocumentModel

/// A deleted database whose rows are not all removed.
struct DeletedDatabase {
    private let number: Int64

    /// The number of rows that are removed at once.
    private static let stepCount: Int64 = 1_000

    /// Finds one; `nil` if there is none.
    init?(_ connection: EngineConnection) throws(StatusError) {
        let rows = try connection.execute(EngineStatement("SELECT db FROM hearth.databases WHERE name IS NULL LIMIT 1"))
        guard let number = rows.integer(0, 0) else { return nil }
        self.number = number
    }

    /// Removes some of its rows, and the database when there are no others.
    ///
    /// - Returns: The number of rows.
    func removeRows(_ connection: EngineConnection) throws(StatusError) -> Int64 {
        for (table, key) in EngineSchema.tablesOfDatabase {
            let rows = try connection.execute(
                EngineStatement(
                    """
                    WITH removed AS (
                        DELETE FROM hearth.\(table) WHERE db = $1::bigint AND (\(key)) IN (
                            SELECT \(key) FROM hearth.\(table) WHERE db = $1::bigint LIMIT $2::bigint
                        ) RETURNING 1
                    ) SELECT count(*) FROM removed
                    """,
                    .integer(number),
                    .integer(Self.stepCount)
                )
            )
            if let count = rows.integer(0, 0), count > 0 { return count }
        }
        try connection.execute(
            EngineStatement("DELETE FROM hearth.databases WHERE db = $1::bigint AND name IS NULL", .integer(number))
        )
        return 0
    }
}
