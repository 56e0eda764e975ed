internal import DocumentModel
internal import GRDB
internal import GRDBSQLite
internal import SyncEngine
internal import UTF8Text

// MARK: State

extension Database {
    /// Returns a number in the state of the cache.
    func cacheState(_ column: String) throws -> UInt64 {
        let number = try CacheStatement("SELECT \(column) FROM state", self).firstRow { try $0.number(0) }
        guard let number else { throw CacheDatabaseError(corruption: "the state is missing") }
        return number
    }

    /// Stores a number in the state of the cache.
    func setCacheState(_ column: String, to number: UInt64) throws {
        let update = try CacheStatement("UPDATE state SET \(column) = ?", self)
        update.bind(number, at: 1)
        try update.run()
    }

    /// Adds a number to the size of the documents.
    func addToByteCount(_ difference: Int64) throws {
        guard difference != 0 else { return }
        let update = try CacheStatement("UPDATE state SET bytes = bytes + ?", self)
        update.bind(difference, at: 1)
        try update.run()
    }

    /// The number of rows that the last statement has changed.
    var changedRowCount: Int { Int(sqlite3_changes(sqliteConnection)) }
}

// MARK: Collections

extension Database {
    /// Returns the collections of a source that have documents which were saved after a change, by ID.
    func collections(
        in source: StructuredQuery.Source,
        changedAfter change: ChangeNumber
    ) throws -> [(id: Int64, path: CollectionPath)] {
        let statement: CacheStatement
        switch source {
        case .collection(let path):
            statement = try CacheStatement("SELECT id, path FROM collection WHERE changed > ? AND path = ?", self)
            statement.bind(path.string, at: 2)
        case .collectionGroup(let id, _):
            statement = try CacheStatement("SELECT id, path FROM collection WHERE changed > ? AND name = ?", self)
            statement.bind(id.key.string, at: 2)
        case .descendants:
            statement = try CacheStatement("SELECT id, path FROM collection WHERE changed > ?", self)
        }
        statement.bind(change, at: 1)
        var collections: [(id: Int64, path: CollectionPath)] = []
        try statement.forEachRow { row in
            let path = try CollectionPath(row.text(1))
            if source.contains(path) { collections.append((try row.integer(0), path)) }
        }
        return collections
    }

    /// Removes those collections that have neither documents nor documents of targets.
    func removeEmptyCollections(_ ids: Set<Int64>) throws {
        let deletion = try CacheStatement(
            """
            DELETE FROM collection WHERE id = ?1
                AND NOT EXISTS (SELECT 1 FROM document WHERE collection = ?1)
                AND NOT EXISTS (SELECT 1 FROM target_document WHERE collection = ?1)
            """,
            self
        )
        for id in ids {
            deletion.bind(id, at: 1)
            try deletion.run()
        }
    }
}

/// The IDs of collections during a call.
struct CollectionLookup {
    private let database: Database
    private var ids: [CollectionPath: Int64?] = [:]
    private var changed: Set<Int64> = []

    init(_ database: Database) {
        self.database = database
    }

    /// Returns the ID of a collection; `nil` if it has none.
    mutating func id(of path: CollectionPath) throws -> Int64? {
        if let id = ids[path] { return id }
        let lookup = try CacheStatement("SELECT id FROM collection WHERE path = ?", database)
        lookup.bind(path.string, at: 1)
        let id = try lookup.firstRow { try $0.integer(0) }
        ids.updateValue(id, forKey: path)
        return id
    }

    /// Returns the ID of a collection, which gets one if it has none.
    mutating func addedID(of path: CollectionPath) throws -> Int64 {
        if let id = try id(of: path) { return id }
        let insertion = try CacheStatement("INSERT INTO collection (path, name, changed) VALUES (?, ?, 0)", database)
        insertion.bind(path.string, at: 1)
        insertion.bind(path.id.key.string, at: 2)
        try insertion.run()
        let id = database.lastInsertedRowID
        ids[path] = id
        return id
    }

    /// Returns the ID of a collection, and records the change of a document in it.
    mutating func addedID(of path: CollectionPath, changed change: ChangeNumber) throws -> Int64 {
        let id = try addedID(of: path)
        guard changed.insert(id).inserted else { return id }
        let update = try CacheStatement("UPDATE collection SET changed = ? WHERE id = ?", database)
        update.bind(change, at: 1)
        update.bind(id, at: 2)
        try update.run()
        return id
    }
}

extension StructuredQuery.Source {
    /// Returns whether the documents of a collection are in the source.
    func contains(_ collection: CollectionPath) -> Bool {
        switch self {
        case .collection(let other): collection == other
        case .collectionGroup(let id, nil): collection.id == id
        case .descendants(nil): true
        case .collectionGroup, .descendants: (try? DocumentPath.ID("a")).map { contains(collection.document($0)) } ?? false
        }
    }
}
