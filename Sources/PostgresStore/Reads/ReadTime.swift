internal import DocumentModel
internal import DocumentStore

/// A read time after the last commit that this server knows. The reader must see every commit that has a time up to it, and no later
/// commit may get one.
struct ReadTime {
    private let time: Timestamp
    private let database: Int64

    init(_ time: Timestamp, _ database: Int64) {
        self.time = time
        self.database = database
    }

    /// Ensures that all later commits have later times. Waits for the commit in progress.
    ///
    /// - Throws: `.invalidArgument` when the time is in the future.
    func observe(_ connection: EngineConnection) throws(StatusError) {
        let rows = try connection.execute(
            EngineStatement(
                """
                SELECT \(EngineClock.sql), d.observed,
                    (SELECT time FROM hearth.commits c WHERE c.db = d.db ORDER BY seq DESC LIMIT 1)
                FROM hearth.databases d WHERE d.db = $1::bigint AND d.name IS NOT NULL
                """,
                .integer(database)
            )
        )
        guard rows.count == 1, let clock = rows.integer(0, 0), let observed = rows.integer(0, 1) else {
            throw .databaseDeleted
        }
        let microseconds = time.microseconds
        if let last = rows.integer(0, 2), microseconds <= last { return }
        guard microseconds <= clock else { throw .readTimeInFuture(time) }
        // A commit in progress may have begun before that time was observed, but not with an earlier time than it.
        guard microseconds > observed else { return }
        try connection.execute(
            EngineStatement(
                "UPDATE hearth.databases SET observed = $2::bigint WHERE db = $1::bigint AND observed < $2::bigint",
                .integer(database),
                .integer(microseconds)
            )
        )
    }
}
