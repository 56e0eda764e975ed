internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import QueryEngine
internal import StrictJSON
internal import UTF8Text

/// The build state of the indexes of the collections with a given ID.
///
/// While a backfill runs, each document has at most the entries of ``maintained`` and at least those of ``readable``. Removing a
/// document removes the former; queries use only the latter. An index that is only in ``maintained`` is what other databases call
/// write-only.
struct IndexBuildState: Hashable {
    /// The policy whose entries may exist, and are removed with their document.
    private(set) var maintained = IndexingPolicy()
    /// The policy whose entries are complete, so that queries can use them.
    private(set) var readable = IndexingPolicy()
    /// The defined policy, according to which entries are added.
    private(set) var desired = IndexingPolicy()

    /// True if no backfill is needed.
    var isBackfilled: Bool { maintained == desired && readable == desired }

    /// Creates the state of a complete build.
    init(backfilled policy: IndexingPolicy = IndexingPolicy()) {
        (maintained, readable, desired) = (policy, policy, policy)
    }

    /// Changes the desired policy. It applies immediately to documents that are written, and to the others through the backfill.
    mutating func setDesired(_ policy: IndexingPolicy) {
        desired = policy
        maintained.composites.formUnion(policy.composites)
        maintained.exempt.formIntersection(policy.exempt)
        readable.composites.formIntersection(policy.composites)
        readable.exempt.formUnion(policy.exempt)
    }

    /// Marks the backfill as complete.
    mutating func markBackfilled() {
        self = IndexBuildState(backfilled: desired)
    }
}

extension IndexBuildState {
    /// Reads the states of all collections that have a policy, or had one that is still being removed.
    static func fetchAll(_ database: Database) throws -> [CollectionID: IndexBuildState] {
        let rows = try Row.fetchAll(database, sql: "SELECT collection, present, ready, target FROM rules")
        var states: [CollectionID: IndexBuildState] = [:]
        for row in rows {
            let (collection, state) = try (CollectionID(Self.text(row, 0)), IndexBuildState(row))
            states[collection] = state
        }
        return states
    }

    /// Reads the state of the collections with a given ID; `nil` if they have no policy.
    static func fetch(_ collection: CollectionID, _ database: Database) throws -> IndexBuildState? {
        try Row.fetchOne(
            database,
            sql: "SELECT collection, present, ready, target FROM rules WHERE collection = ?",
            arguments: [collection.key.string]
        ).map { try IndexBuildState($0) }
    }

    private init(_ row: Row) throws {
        (maintained, readable, desired) = try (
            IndexingPolicy(text: Self.text(row, 1)), IndexingPolicy(text: Self.text(row, 2)),
            IndexingPolicy(text: Self.text(row, 3))
        )
    }

    /// Returns a column that is text unless the file is damaged.
    private static func text(_ row: Row, _ column: Int) throws -> String {
        guard let text = row[column] as String? else { throw DatabaseError(resultCode: .SQLITE_CORRUPT) }
        return text
    }

    /// Writes the state of the collections with a given ID.
    func save(_ collection: CollectionID, _ database: Database) throws {
        guard !isBackfilled || desired != IndexingPolicy() else {
            return try database.execute(sql: "DELETE FROM rules WHERE collection = ?", arguments: [collection.key.string])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO rules (collection, present, ready, target) VALUES (?, ?, ?, ?)",
            arguments: [collection.key.string, maintained.text, readable.text, desired.text]
        )
    }
}

extension IndexingPolicy {
    /// The policy as JSON text. Equal policies may have different representations.
    fileprivate var text: String {
        var writer = JSONWriter()
        writer.beginObject()
        writer.key("composites")
        writer.beginArray()
        for fields in composites { writer.fields(fields) }
        writer.endArray()
        writer.key("exempt")
        writer.beginArray()
        for field in exempt { writer.string(field.description) }
        writer.endArray()
        writer.endObject()
        return String(decoding: writer.finish(), as: UTF8.self)
    }

    fileprivate init(text: String) throws {
        let root = try JSONText(Array(text.utf8)).root
        guard let composites = root["composites"]?.elements, let exempt = root["exempt"]?.elements else { throw Self.unreadable }
        self.init()
        for json in composites {
            guard let fields = Self.fields(json) else { throw Self.unreadable }
            self.composites.insert(fields)
        }
        for json in exempt { self.exempt.insert(try FieldPath(json.string ?? "")) }
    }

    private static let unreadable = IndexDatabaseError(corruption: "an indexing policy cannot be parsed")

    /// Parses the fields of an index; `nil` if they are invalid.
    static func fields(_ json: JSONNode) -> [IndexDefinition.Field]? {
        guard let elements = json.elements else { return nil }
        var fields: [IndexDefinition.Field] = []
        for json in elements {
            guard let path = json["field"]?.string.flatMap({ try? FieldPath($0) }), let direction = json["direction"]?.string
            else { return nil }
            let isDescending = direction.utf8.elementsEqual("desc".utf8)
            guard isDescending || direction.utf8.elementsEqual("asc".utf8) else { return nil }
            fields.append(IndexDefinition.Field(path, isDescending ? .descending : .ascending))
        }
        return fields
    }
}
