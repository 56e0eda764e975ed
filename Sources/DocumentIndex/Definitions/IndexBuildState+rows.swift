internal import DocumentModel
internal import GRDB
internal import QueryEngine
internal import UTF8Text

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
        try self.init(maintained: Self.policy(row, 1), readable: Self.policy(row, 2), desired: Self.policy(row, 3))
    }

    private static func policy(_ row: Row, _ column: Int) throws -> IndexingPolicy {
        guard let policy = try IndexingPolicy(text: text(row, column)) else {
            throw IndexDatabaseError(corruption: "an indexing policy cannot be parsed")
        }
        return policy
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
