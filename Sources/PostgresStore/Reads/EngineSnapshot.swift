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
    /// True if there are commits after the view.
    private let isPast: Bool

    /// Begins a transaction with a view as of the last commit, or of the last one up to a read time.
    ///
    /// - Throws: `.failedPrecondition` when the commits after the read time are no longer retained; `.notFound` when the database
    ///   was deleted.
    init(_ connection: EngineConnection, _ database: Int64, at readTime: Timestamp? = nil) throws(StatusError) {
        let rows = try connection.execute([
            EngineStatement("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"),
            EngineStatement(Self.positionSQL, .integer(database), .integer(readTime?.microseconds)),
        ])[1]
        guard rows.count == 1 else { throw StatusError.databaseDeleted }
        let last = SequenceNumber(UInt64(rows.integer(0, 1) ?? 0))
        self.connection = connection
        self.database = database
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
        (sequence, time, isPast) = (shown, readTime, shown < last)
    }

    /// The oldest retained commit, the last one with its time, and the last one up to a time.
    private static let positionSQL = """
        SELECT d.oldest, l.seq, l.time, s.seq FROM hearth.databases d
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
        fileprivate var condition: String {
            let id = "(SELECT id FROM hearth.scopes WHERE db = $1::bigint AND key = $5::bytea)"
            return switch self {
            case .collection: "collection = \(id)"
            case .group: "collection_group = \(id)"
            // A condition on the parameter, so that it has a type.
            case .database: "$5::bytea IS NULL"
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

    /// The size from which on a page has no more documents.
    private static let maximumPageBytes = 4 << 20

    private func parameters(_ scope: Scope, from lower: [UInt8], to upper: [UInt8], limit: Int) -> [EngineValue] {
        let values: [EngineValue] = [
            .integer(database), .bytes(lower), .bytes(upper), .integer(Int64(limit)), .bytes(scope.key),
        ]
        return isPast ? values + [.integer(Int64(sequence.rawValue))] : values
    }

    /// Returns the statement for the documents as of the view: the current ones, and in a view of the past, instead of those that were
    /// changed since, the documents before their first changes since.
    private func rowsSQL(_ scope: Scope, _ columns: String, _ direction: String) -> String {
        let range = "db = $1::bigint AND name >= $2::bytea AND name < $3::bytea AND \(scope.condition)"
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
