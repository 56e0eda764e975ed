internal import DocumentModel
internal import DocumentStore
internal import UTF8Text

/// The end and the oldest retained commit of a database's log.
struct LogPosition: Sendable {
    /// The last commit; zero before the first.
    let last: SequenceNumber
    /// The time of the last commit.
    let time: Timestamp?
    /// The oldest retained commit.
    let oldest: SequenceNumber

    /// Reads the position.
    ///
    /// - Throws: `.notFound` when the database was deleted.
    init(_ connection: EngineConnection, _ database: Int64) throws(StatusError) {
        try self.init(connection.execute(Self.statement(database)))
    }

    fileprivate static func statement(_ database: Int64) -> EngineStatement {
        EngineStatement(
            """
            SELECT d.oldest, l.seq, l.time FROM hearth.databases d
            LEFT JOIN LATERAL (SELECT seq, time FROM hearth.commits c WHERE c.db = d.db ORDER BY seq DESC LIMIT 1) l ON true
            WHERE d.db = $1::bigint AND d.name IS NOT NULL
            """,
            .integer(database)
        )
    }

    fileprivate init(_ rows: EngineRows) throws(StatusError) {
        guard rows.count == 1 else { throw .databaseDeleted }
        self.init(rows, 0)
    }

    fileprivate init(_ rows: EngineRows, _ row: Int) {
        oldest = SequenceNumber(UInt64(rows.integer(row, 0) ?? 1))
        last = SequenceNumber(UInt64(rows.integer(row, 1) ?? 0))
        time = rows.time(row, 2)
    }

    /// Returns the position of the store of a database.
    func position(of id: DatabaseID?, _ epoch: Epoch) -> StorePosition {
        StorePosition(
            database: id,
            epoch: epoch.description,
            lastSequence: last,
            lastCommitTime: time,
            oldestRetained: oldest
        )
    }
}

/// The position of a log, with the time of a commit that is known.
struct LogHead: Sendable {
    /// The number of the database.
    let database: Int64
    let position: LogPosition
    /// The last commit that is known.
    let known: SequenceNumber
    /// The time that the log has for it; `nil` if it is not there.
    let knownTime: Timestamp?

    /// Reads the heads of some logs; without those of deleted databases.
    ///
    /// - Parameter known: What is known of each.
    static func read(
        _ known: [(database: Int64, position: StorePosition)],
        _ connection: EngineConnection
    ) throws(StatusError) -> [LogHead] {
        let rows = try connection.execute(
            EngineStatement(
                """
                SELECT d.oldest, l.seq, l.time, d.db, asked.known,
                    (SELECT time FROM hearth.commits c WHERE c.db = d.db AND c.seq = asked.known)
                FROM unnest($1::bigint[], $2::bigint[]) AS asked (db, known)
                JOIN hearth.databases d ON d.db = asked.db AND d.name IS NOT NULL
                LEFT JOIN LATERAL (SELECT seq, time FROM hearth.commits c WHERE c.db = d.db ORDER BY seq DESC LIMIT 1) l ON true
                """,
                .integers(known.map(\.database)),
                .integers(known.map { Int64($0.position.lastSequence.rawValue) })
            )
        )
        return (0..<rows.count).map { row in
            LogHead(
                database: rows.integer(row, 3) ?? 0,
                position: LogPosition(rows, row),
                known: SequenceNumber(UInt64(rows.integer(row, 4) ?? 0)),
                knownTime: rows.time(row, 5)
            )
        }
    }
}

/// A page of a database's log, with its position at that time.
struct LogPage: Sendable {
    let position: LogPosition
    /// The commits, in order; their size is limited.
    let commits: [Commit]

    /// The maximum number of commits of a page.
    private static let maximumCount = 256
    /// The size from which on a page has no more commits.
    private static let maximumBytes = 4 << 20

    /// Reads a page of the commits from one number on, up to another one.
    init(
        _ connection: EngineConnection,
        _ database: Int64,
        from first: SequenceNumber,
        through last: SequenceNumber?
    ) throws(StatusError) {
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            LogPosition.statement(database),
            EngineStatement(
                """
                SELECT k.seq, k.time, k.author, c.path, c.before_fields, c.before_created, c.before_updated,
                    c.after_fields, c.after_created
                FROM (
                    SELECT seq, time, author, sum(bytes) OVER (ORDER BY seq) - bytes AS bytes_before FROM (
                        SELECT seq, time, author, bytes FROM hearth.commits
                        WHERE db = $1::bigint AND seq >= $2::bigint AND seq <= $3::bigint ORDER BY seq LIMIT \(Self.maximumCount)
                    ) numbered
                ) k LEFT JOIN hearth.changes c ON c.db = $1::bigint AND c.seq = k.seq
                WHERE k.bytes_before < \(Self.maximumBytes) ORDER BY k.seq, c.n
                """,
                .integer(database),
                .integer(Int64(first.rawValue)),
                .integer(last.map { Int64($0.rawValue) } ?? .max)
            ),
            EngineStatement("COMMIT"),
        ])
        position = try LogPosition(rows[1])
        commits = try Self.commits(rows[2])
    }

    private static func commits(_ rows: EngineRows) throws(StatusError) -> [Commit] {
        var commits: [Commit] = []
        var row = 0
        while row < rows.count {
            guard let number = rows.integer(row, 0), let time = rows.time(row, 1) else {
                throw .damagedRow("a commit has no number or time")
            }
            let author = rows.key(row, 2)
            var changes: [CommittedChange] = []
            while row < rows.count, rows.integer(row, 0) == number {
                if let text = rows.text(row, 3) {
                    let before =
                        rows.isNull(row, 4) ? nil : try rows.document(row, path: 3, fields: 4, created: 5, updated: 6)
                    let after = rows.isNull(row, 7) ? nil : try rows.document(row, path: 3, fields: 7, created: 8, updated: 1)
                    changes.append(
                        CommittedChange(
                            path: try DocumentPath(text),
                            before: before,
                            after: after,
                            existedBefore: before != nil
                        )
                    )
                }
                row += 1
            }
            commits.append(
                Commit(sequence: SequenceNumber(UInt64(number)), time: time, author: author, changes: changes)
            )
        }
        return commits
    }
}
