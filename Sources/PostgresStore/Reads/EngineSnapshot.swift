internal import DocumentModel
internal import DocumentStore

/// A view of a database as of one commit, in a transaction of a connection, to whose thread it is confined.
final class EngineSnapshot {
    let connection: EngineConnection
    /// The number of the database.
    let database: Int64
    /// The last commit of the view.
    let sequence: SequenceNumber
    /// The time of the view: that of the last commit, or the read time; `nil` before the first commit.
    let time: Timestamp?
    /// The progress of the index, as stored.
    let builds: [UInt8]?
    /// True if there are commits after the view.
    private let isPast: Bool
    /// The last commit in the engine, with its time.
    private let last: (sequence: SequenceNumber, time: Timestamp?)

    /// Begins a transaction with a view as of the last commit, or of the last one up to a read time.
    ///
    /// - Parameter anchor: The last commit that the server knows; `nil` before the first.
    /// - Throws: `.failedPrecondition` when the commits after the read time are no longer retained, or the engine has lost commits around
    ///   it; `.unavailable` when that is not known yet; `.notFound` when the database was deleted.
    init(
        _ connection: EngineConnection,
        _ database: Int64,
        at readTime: Timestamp? = nil,
        knowing anchor: LogAnchor? = nil
    ) throws(StatusError) {
        var statements = [
            EngineStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            EngineStatement(Self.positionSQL, .integer(database), .integer(readTime?.microseconds)),
        ]
        if let readTime {
            statements.append(EngineStatement(Self.lossSQL, .integer(database), .integer(readTime.microseconds)))
            if let anchor { statements.append(anchor.statement(database)) }
        }
        let results = try connection.execute(statements)
        let rows = results[1]
        guard rows.count == 1 else { throw StatusError.databaseDeleted }
        let last = SequenceNumber(UInt64(rows.integer(0, 1) ?? 0))
        self.connection = connection
        self.database = database
        builds = rows.bytes(0, 4)
        self.last = (last, rows.time(0, 2))
        guard let readTime else {
            (sequence, time, isPast) = (last, rows.time(0, 2), false)
            return
        }
        let shown = SequenceNumber(UInt64(rows.integer(0, 3) ?? 0))
        guard Int64(shown.rawValue) + 1 >= rows.integer(0, 0) ?? 1 else {
            throw StatusError(
                .failedPrecondition,
                "The read time \(readTime) is before the oldest retained commit. Use a later read time."
            )
        }
        if let anchor, !anchor.matches(results[3]) { throw HistoryLoss.justNoticed }
        let isTimeOfCommit = results[2].integer(0, 1) != nil
        let lost = try LostHistory(results[2].bytes(0, 0))
        guard isTimeOfCommit || !lost.contains(readTime) else { throw LostHistory.lostReadTime(readTime) }
        (sequence, time, isPast) = (shown, readTime, shown < last)
    }

    private init(latestOf view: EngineSnapshot) {
        (connection, database, builds, last) = (view.connection, view.database, view.builds, view.last)
        (sequence, time, isPast) = (view.last.sequence, view.last.time, false)
    }

    /// The view as of the last commit, in the same transaction.
    var latest: EngineSnapshot { isPast ? EngineSnapshot(latestOf: self) : self }

    /// The record of the lost history, and the commit with a time.
    private static let lossSQL = """
        SELECT
            (
                SELECT contents FROM hearth.records
                WHERE db = $1::bigint AND name = '\(EngineRecord.Name.lostHistory.rawValue)'::bytea
            ),
            (SELECT seq FROM hearth.commits WHERE db = $1::bigint AND time = $2::bigint LIMIT 1)
        """

    /// The oldest retained commit, the last one with its time, the last one up to a time, and the progress of the index.
    private static let positionSQL = """
        SELECT d.oldest, l.seq, l.time, s.seq, d.builds FROM hearth.databases d
        LEFT JOIN LATERAL (SELECT seq, time FROM hearth.commits c WHERE c.db = d.db ORDER BY seq DESC LIMIT 1) l ON true
        LEFT JOIN LATERAL (
            SELECT seq FROM hearth.commits c WHERE c.db = d.db AND c.time <= $2::bigint ORDER BY time DESC LIMIT 1
        ) s ON true
        WHERE d.db = $1::bigint AND d.name IS NOT NULL
        """
}

// MARK: - Documents

extension EngineSnapshot {
    /// A set of documents.
    enum Scope {
        case collection(CollectionPath)
        case group(CollectionID)
        case database

        fileprivate var key: [UInt8]? {
            switch self {
            case .collection(let path): EngineKey.scope(of: path)
            case .group(let id): EngineKey.scope(ofGroup: id)
            case .database: nil
            }
        }

        /// The condition on a row of `documents` or `changes`.
        ///
        /// - Parameter parameter: The parameter with the ``key``.
        fileprivate func condition(key parameter: String) -> String {
            let id = "(SELECT id FROM hearth.scopes WHERE db = $1::bigint AND key = \(parameter)::bytea)"
            return switch self {
            case .collection: "collection = \(id)"
            case .group: "collection_group = \(id)"
            // A condition on the parameter, so that it has a type.
            case .database: "\(parameter)::bytea IS NULL"
            }
        }
    }

    /// A page of documents by stored name.
    struct Page {
        var documents: [(name: [UInt8], document: EncodedDocument)] = []
        /// True if there are no more in the range.
        var isLast = true
    }

    /// Returns the document at a path; `nil` if there is none.
    func document(at path: DocumentPath) throws(StatusError) -> EncodedDocument? {
        let name = EngineKey.name(path)
        return try page(.database, from: name, to: name + [0], limit: 1).documents.first?.document
    }

    /// Returns documents of a scope whose stored names are in a range, in their order: at most `limit`, and fewer if they are large.
    func page(
        _ scope: Scope,
        from lower: [UInt8],
        to upper: [UInt8],
        isDescending: Bool = false,
        limit: Int
    ) throws(StatusError) -> Page {
        let direction = isDescending ? "DESC" : "ASC"
        let sql = """
            SELECT name, path, fields, created, updated, total FROM (
                SELECT page.*, count(*) OVER () AS total,
                    sum(octet_length(fields)) OVER (ORDER BY name \(direction)) - octet_length(fields) AS bytes_before
                FROM (\(rowsSQL(scope, "name, path, fields, created, updated", direction))) page
            ) sized WHERE bytes_before < \(Self.maximumPageBytes) ORDER BY name \(direction)
            """
        let rows = try connection.execute(
            EngineStatement(sql, parameters(scope, from: lower, to: upper, limit: limit))
        )
        var page = Page()
        page.documents.reserveCapacity(rows.count)
        for row in 0..<rows.count {
            guard let name = rows.bytes(row, 0) else { throw .damagedRow("a document has no name") }
            page.documents.append((name, try rows.document(row, path: 1, fields: 2, created: 3, updated: 4)))
        }
        if rows.count > 0 { page.isLast = rows.count == rows.integer(0, 5) ?? 0 && rows.count < limit }
        return page
    }

    /// Returns the number of documents of a scope whose stored names are in a range, counted up to a limit.
    func count(_ scope: Scope, from lower: [UInt8], to upper: [UInt8], limit: Int) throws(StatusError) -> Int {
        let sql = "SELECT count(*) FROM (\(rowsSQL(scope, "name", "ASC"))) counted"
        let rows = try connection.execute(
            EngineStatement(sql, parameters(scope, from: lower, to: upper, limit: limit))
        )
        return Int(rows.integer(0, 0) ?? 0)
    }

    /// Returns documents with stored names, in the order of these: the first one if it exists, and fewer if they are large.
    func documents(named names: [[UInt8]]) throws(StatusError) -> [EncodedDocument] {
        let sql = """
            SELECT path, fields, created, updated FROM (
                SELECT r.n, d.*, sum(octet_length(d.fields)) OVER (ORDER BY r.n) - octet_length(d.fields) AS bytes_before
                FROM unnest($2::bytea[]) WITH ORDINALITY AS r (name, n)
                JOIN hearth.documents d ON d.db = $1::bigint AND d.name = r.name
            ) sized WHERE bytes_before < \(Self.maximumPageBytes) ORDER BY n
            """
        let rows = try connection.execute(EngineStatement(sql, .integer(database), .byteStrings(names)))
        return try (0..<rows.count).map { row throws(StatusError) in
            try rows.document(row, path: 0, fields: 1, created: 2, updated: 3)
        }
    }

    /// The size from which on a page has no more documents.
    static let maximumPageBytes = 4 << 20

    private func parameters(_ scope: Scope, from lower: [UInt8], to upper: [UInt8], limit: Int) -> [EngineValue] {
        let values: [EngineValue] = [
            .integer(database), .bytes(lower), .bytes(upper), .integer(Int64(limit)), .bytes(scope.key),
        ]
        return isPast ? values + [.integer(Int64(sequence.rawValue))] : values
    }

    /// Returns the statement for the documents as of the view: the current ones, and in a view of the past, instead of those that were
    /// changed since, the documents before their first changes since.
    private func rowsSQL(_ scope: Scope, _ columns: String, _ direction: String) -> String {
        let range = "db = $1::bigint AND name >= $2::bytea AND name < $3::bytea AND \(scope.condition(key: "$5"))"
        let end = "ORDER BY name \(direction) LIMIT $4::bigint"
        guard isPast else { return "SELECT \(columns) FROM hearth.documents WHERE \(range) \(end)" }
        return """
            SELECT \(columns) FROM (
                (SELECT name, path, fields, created, updated FROM hearth.documents WHERE \(range)
                    AND NOT EXISTS (
                        SELECT 1 FROM hearth.changes later
                        WHERE later.db = $1::bigint AND later.name = documents.name AND later.seq > $6::bigint
                    ) \(end))
                UNION ALL
                (SELECT name, path, before_fields AS fields, before_created AS created, before_updated AS updated FROM (
                    SELECT DISTINCT ON (name) name, path, before_fields, before_created, before_updated
                    FROM hearth.changes WHERE \(range) AND seq > $6::bigint ORDER BY name \(direction), seq
                ) first_changes WHERE before_fields IS NOT NULL \(end))
            ) as_of \(end)
            """
    }
}

// MARK: - Later changes

extension EngineSnapshot {
    /// Returns whether fewer documents than a number were changed after the view, counted once for each commit.
    func hasFewerLaterChanges(than limit: Int) throws(StatusError) -> Bool {
        guard isPast else { return true }
        let rows = try connection.execute(
            EngineStatement(
                """
                SELECT count(*) FROM (
                    SELECT 1 FROM hearth.changes WHERE db = $1::bigint AND seq > $2::bigint LIMIT $3::bigint
                ) counted
                """,
                .integer(database),
                .integer(Int64(sequence.rawValue)),
                .integer(Int64(limit))
            )
        )
        return Int(rows.integer(0, 0) ?? 0) < limit
    }

    /// Returns the paths of the documents of a scope that were changed after the view.
    func pathsChangedLater(in scope: Scope) throws(StatusError) -> [DocumentPath] {
        guard isPast else { return [] }
        let rows = try connection.execute(
            EngineStatement(
                "SELECT DISTINCT path FROM hearth.changes WHERE db = $1::bigint AND seq > $2::bigint AND "
                    + scope.condition(key: "$3"),
                .integer(database),
                .integer(Int64(sequence.rawValue)),
                .bytes(scope.key)
            )
        )
        return try (0..<rows.count).map { row throws(StatusError) in
            guard let text = rows.text(row, 0) else { throw .damagedRow("a change has no path") }
            return try DocumentPath(text)
        }
    }

    /// Returns documents that were changed after the view, as of the view; without those that did not exist.
    func images(beforeLaterChangesOf paths: [DocumentPath]) throws(StatusError) -> [EncodedDocument] {
        let rows = try connection.execute(
            EngineStatement(
                """
                SELECT path, before_fields, before_created, before_updated FROM (
                    SELECT DISTINCT ON (name) name, path, before_fields, before_created, before_updated FROM hearth.changes
                    WHERE db = $1::bigint AND name = ANY($2::bytea[]) AND seq > $3::bigint ORDER BY name, seq
                ) first_changes WHERE before_fields IS NOT NULL
                """,
                .integer(database),
                .byteStrings(paths.map { EngineKey.name($0) }),
                .integer(Int64(sequence.rawValue))
            )
        )
        return try (0..<rows.count).map { row throws(StatusError) in
            try rows.document(row, path: 0, fields: 1, created: 2, updated: 3)
        }
    }
}

extension EngineRows {
    /// Decodes the document in some columns.
    func document(
        _ row: Int,
        path: Int,
        fields: Int,
        created: Int,
        updated: Int
    ) throws(StatusError) -> EncodedDocument {
        guard let text = text(row, path), let fields = bytes(row, fields), let created = time(row, created),
            let updated = time(row, updated)
        else { throw .damagedRow("a document lacks a column") }
        return EncodedDocument(path: try DocumentPath(text), createTime: created, updateTime: updated, fieldsJSON: fields)
    }
}

extension StatusError {
    /// The error when another server has deleted the database.
    static var databaseDeleted: StatusError { StatusError(.notFound, "The database was deleted.") }

    /// Returns the error for a row that Hearth has not written.
    static func damagedRow(_ reason: String) -> StatusError {
        StatusError(.dataLoss, "A row of the database engine is damaged: \(reason). Restore a backup of the engine.")
    }
}
