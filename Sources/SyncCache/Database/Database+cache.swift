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
    /// Calls `body` with the collections of a source that have documents which were saved after a change, from an ID on and in order of the
    /// IDs, until it returns false.
    func visitCollections(
        in source: StructuredQuery.Source,
        changedAfter change: ChangeNumber,
        from id: Int64,
        while body: ((id: Int64, path: CollectionPath)) throws -> Bool
    ) throws {
        let selection = "SELECT id, path FROM collection WHERE changed > ?1 AND id >= ?2"
        // Uncached, since `body` may run the same.
        let statement: CacheStatement
        switch source {
        case .collection(let path):
            statement = try CacheStatement(uncached: "\(selection) AND path = ?3 ORDER BY id", self)
            statement.bind(path.string, at: 3)
        case .collectionGroup(let id, _):
            statement = try CacheStatement(uncached: "\(selection) AND name = ?3 ORDER BY id", self)
            statement.bind(id.key.string, at: 3)
        case .descendants:
            statement = try CacheStatement(uncached: "\(selection) ORDER BY id", self)
        }
        statement.bind(change, at: 1)
        statement.bind(id, at: 2)
        try statement.visitRows { row in
            let path = try CollectionPath(row.text(1))
            guard source.contains(path) else { return true }
            return try body((try row.integer(0), path))
        }
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

/// The collections of a call, each of which is looked up once.
struct CollectionLookup {
    private let database: Database
    private var collections: [CollectionPath: Collection?] = [:]
    /// The last collection: most documents of a call are in one.
    private var last: (path: CollectionPath, collection: Collection)?

    /// A collection that has documents, or documents of targets.
    struct Collection {
        let id: Int64
        /// The number of the last change of a document; 0 if there has been none.
        fileprivate(set) var changed: ChangeNumber
        /// True if the collection may have had documents at the beginning of the call.
        let mayHaveDocuments: Bool

        fileprivate init(id: Int64, changed: ChangeNumber) {
            self.id = id
            self.changed = changed
            mayHaveDocuments = changed > 0
        }
    }

    init(_ database: Database) {
        self.database = database
    }

    /// Returns the ID of a collection; `nil` if it has none.
    mutating func id(of path: CollectionPath) throws -> Int64? {
        try collection(at: path)?.id
    }

    /// Returns a collection; `nil` if it has neither documents nor documents of targets.
    mutating func collection(at path: CollectionPath) throws -> Collection? {
        if let last, last.path == path { return last.collection }
        if let known = collections[path] {
            if let known { last = (path, known) }
            return known
        }
        let lookup = try CacheStatement("SELECT id, changed FROM collection WHERE path = ?", database)
        lookup.bind(path.string, at: 1)
        let collection = try lookup.firstRow { Collection(id: try $0.integer(0), changed: try $0.number(1)) }
        record(collection, at: path)
        return collection
    }

    /// Returns a collection, which is added if it does not exist.
    mutating func addedCollection(at path: CollectionPath) throws -> Collection {
        if let collection = try collection(at: path) { return collection }
        let insertion = try CacheStatement("INSERT INTO collection (path, name, changed) VALUES (?, ?, 0)", database)
        insertion.bind(path.string, at: 1)
        insertion.bind(path.id.key.string, at: 2)
        try insertion.run()
        let collection = Collection(id: database.lastInsertedRowID, changed: 0)
        record(collection, at: path)
        return collection
    }

    /// Returns a collection, which is added if it does not exist, and records the change of a document in it.
    mutating func addedCollection(at path: CollectionPath, changed change: ChangeNumber) throws -> Collection {
        var collection = try addedCollection(at: path)
        guard collection.changed != change else { return collection }
        let update = try CacheStatement("UPDATE collection SET changed = ? WHERE id = ?", database)
        update.bind(change, at: 1)
        update.bind(collection.id, at: 2)
        try update.run()
        collection.changed = change
        record(collection, at: path)
        return collection
    }

    private mutating func record(_ collection: Collection?, at path: CollectionPath) {
        collections.updateValue(collection, forKey: path)
        last = collection.map { (path, $0) }
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
