internal import DocumentModel
internal import GRDB
internal import SyncEngine
internal import Synchronization

/// An index with its state.
struct StoredIndex {
    let id: Int64
    let index: FieldIndex
    /// The ID of the last document with an entry; `nil` if all documents have theirs.
    let filled: Int64?

    /// Returns the indexes, the oldest first.
    static func all(in database: Database, _ definitions: IndexDefinitions) throws -> [StoredIndex] {
        let scan = try CacheStatement("SELECT id, definition, filled FROM field_index WHERE isRemoved = 0 ORDER BY id", database)
        var indexes: [StoredIndex] = []
        try scan.forEachRow { row in
            indexes.append(
                StoredIndex(
                    id: try row.integer(0),
                    index: try definitions.decode(row.bytes(1)),
                    filled: try row.optionalInteger(2)
                )
            )
        }
        return indexes
    }

    /// Returns whether the entry of a document, if it has one, is in the index now.
    func covers(_ document: Int64, in collection: CollectionPath) -> Bool {
        index.source.contains(collection) && filled.map { document <= $0 } ?? true
    }
}

/// The decoded definitions of indexes, which are read in each transaction that saves documents.
final class IndexDefinitions: Sendable {
    private let decoded = Mutex<[[UInt8]: FieldIndex]>([:])

    /// Returns the index of a definition, which is decoded once.
    func decode(_ definition: [UInt8]) throws -> FieldIndex {
        if let known = decoded.withLock({ $0[definition] }) { return known }
        let index = try StoredJSON.index(definition)
        decoded.withLock { decoded in
            // Most of them are those of indexes that have been removed.
            if decoded.count >= 2 * FieldIndex.maximumCount { decoded = [:] }
            decoded[definition] = index
        }
        return index
    }
}

/// The change of entries with their documents.
struct IndexMaintainer {
    private let indexes: [StoredIndex]
    private let lookup: CacheStatement
    private let insertion: CacheStatement
    private let deletion: CacheStatement

    /// Creates a maintainer; returns `nil` if there are no indexes.
    init?(_ database: Database, _ definitions: IndexDefinitions) throws {
        indexes = try StoredIndex.all(in: database, definitions)
        guard !indexes.isEmpty else { return nil }
        lookup = try CacheStatement("SELECT fields FROM document WHERE id = ? AND state = 0", database)
        insertion = try CacheStatement(Self.insertion, database)
        deletion = try CacheStatement(Self.deletion, database)
    }

    /// Inserts an entry.
    static let insertion = "INSERT OR IGNORE INTO entry (field_index, key, document) VALUES (?, ?, ?)"

    /// Deletes an entry.
    static let deletion = "DELETE FROM entry WHERE field_index = ? AND key = ? AND document = ?"

    /// Returns the fields of a stored document before a change; `nil` if it does not exist, or if no index has it.
    func fields(of document: Int64, in collection: CollectionPath) throws -> MapValue? {
        guard indexes.contains(where: { $0.covers(document, in: collection) }) else { return nil }
        lookup.bind(document, at: 1)
        return try lookup.firstRow { try StoredJSON.fields($0.bytes(0)) }
    }

    /// Replaces the entries of a document.
    ///
    /// - Parameters:
    ///   - old: The fields before the change; `nil` if the document did not exist.
    ///   - new: The fields after it; `nil` if the document does not exist.
    func update(_ document: Int64, at path: DocumentPath, from old: MapValue?, to new: MapValue?) throws {
        for stored in indexes where stored.covers(document, in: path.collection) {
            let oldKey = old.flatMap { stored.index.key(of: $0, at: path) }
            let newKey = new.flatMap { stored.index.key(of: $0, at: path) }
            guard oldKey != newKey else { continue }
            for (key, statement) in [(oldKey, deletion), (newKey, insertion)] {
                guard let key else { continue }
                statement.bind(stored.id, at: 1)
                statement.bind(bytes: key, at: 2)
                statement.bind(document, at: 3)
                try statement.run()
            }
        }
    }
}
