internal import DocumentModel
internal import DocumentStore
internal import GRDB
internal import QueryEngine
internal import UTF8Text

/// The interned IDs of scopes and fields, as the database assigns them, with a cache.
///
/// After a failed transaction the cache may hold IDs that were rolled back, and must be discarded.
struct IndexCatalog {
    private struct FieldName: Hashable {
        let parent: Int64
        let name: UTF8Key
    }

    private var scopes: [UTF8Key: Int64] = [:]
    private var fields: [FieldName: Int64] = [:]
    private var parents: [Int64: Int64] = [:]
    /// The collection that ``scopes(of:creating:in:)`` was last called with: documents are written collection by collection.
    private var lastCollection: (path: CollectionPath, scopes: CollectionScopes)?

    /// The scopes in which the fields of a collection's documents are indexed.
    struct CollectionScopes {
        /// The scope of the collection.
        let collection: Int64
        /// The scope of the collection group; `nil` for a top-level collection.
        let group: Int64?
    }

    /// The maximum number of cached IDs of each kind.
    private static let maximumCount = 20_000

    /// Returns the ID of a scope; `nil` if it has none and `creating` is `false`.
    mutating func scopeID(_ name: UTF8Key, creating: Bool, in database: Database) throws -> Int64? {
        if let id = scopes[name] { return id }
        guard let id = try Self.id(of: name, in: .scopes, under: nil, creating: creating, database) else { return nil }
        if scopes.count >= Self.maximumCount { scopes.removeAll(keepingCapacity: true) }
        scopes[name] = id
        return id
    }

    /// Returns the scopes of a collection; `nil` if it has none and `creating` is `false`.
    mutating func scopes(
        of collection: CollectionPath,
        creating: Bool,
        in database: Database
    ) throws -> CollectionScopes? {
        if let lastCollection, lastCollection.path == collection { return lastCollection.scopes }
        guard let scope = try scopeID(Self.scopeName(of: collection), creating: creating, in: database) else { return nil }
        var group: Int64?
        if collection.parent != nil {
            group = try scopeID(Self.scopeName(ofGroup: collection.id), creating: creating, in: database)
            guard group != nil else { return nil }
        }
        let scopes = CollectionScopes(collection: scope, group: group)
        lastCollection = (collection, scopes)
        return scopes
    }

    /// Returns the ID of a field in the map field `parent`, which is 0 for a top-level field; `nil` if it has none and `creating`
    /// is `false`.
    mutating func fieldID(_ name: UTF8Key, under parent: Int64, creating: Bool, in database: Database) throws -> Int64? {
        let key = FieldName(parent: parent, name: name)
        if let id = fields[key] { return id }
        guard let id = try Self.id(of: name, in: .fields, under: parent, creating: creating, database) else { return nil }
        guard id <= IndexSpace.maximumField else {
            throw IndexDatabaseError(corruption: "there are more than \(IndexSpace.maximumField) distinct field paths")
        }
        if fields.count >= Self.maximumCount { fields.removeAll(keepingCapacity: true) }
        fields[key] = id
        return id
    }

    /// Returns the ID of a field path; `nil` if it has none and `creating` is `false`.
    mutating func fieldID(_ path: FieldPath, creating: Bool, in database: Database) throws -> Int64? {
        var id: Int64 = 0
        for segment in path.segments {
            guard let next = try fieldID(segment, under: id, creating: creating, in: database) else { return nil }
            id = next
        }
        return id
    }

    /// Returns the ID of a composite index; `nil` if it has none and `creating` is `false`.
    mutating func compositeID(_ fields: [IndexDefinition.Field], creating: Bool, in database: Database) throws -> Int64? {
        try fieldID(fields.catalogName, under: -1, creating: creating, in: database)
    }

    /// Returns the ID of the map field that contains a field; 0 for a top-level field.
    mutating func parentID(of field: Int64, in database: Database) throws -> Int64 {
        if let parent = parents[field] { return parent }
        let parent = try Int64.fetchOne(database, sql: "SELECT parent FROM fields WHERE id = ?", arguments: [field]) ?? 0
        if parents.count >= Self.maximumCount { parents.removeAll(keepingCapacity: true) }
        parents[field] = parent
        return parent
    }

    /// The ID of the scope of all documents. No collection has it.
    static let allDocuments: Int64 = 0

    /// The ID of the scope of the documents that could not be read when the index was built. No collection has it.
    static let unreadableDocuments: Int64 = -1

    /// Returns the name of a collection's scope.
    static func scopeName(of collection: CollectionPath) -> UTF8Key { UTF8Key(collection.string) }

    /// Returns the name of the scope of all nested collections with a given ID. No collection path starts with a slash.
    static func scopeName(ofGroup id: CollectionID) -> UTF8Key { UTF8Key("/" + id.key.string) }
}

extension IndexCatalog {
    private enum Table {
        case scopes
        case fields

        var selectSQL: String {
            switch self {
            case .scopes: "SELECT id FROM scopes WHERE name = ?1"
            case .fields: "SELECT id FROM fields WHERE name = ?1 AND parent = ?2"
            }
        }

        var insertSQL: String {
            switch self {
            case .scopes: "INSERT INTO scopes (name) VALUES (?1)"
            case .fields: "INSERT INTO fields (name, parent) VALUES (?1, ?2)"
            }
        }
    }

    private static func id(
        of name: UTF8Key,
        in table: Table,
        under parent: Int64?,
        creating: Bool,
        _ database: Database
    ) throws -> Int64? {
        let bytes = Array(name.utf8)
        let select = try IndexStatement(table.selectSQL, database)
        defer { select.reset() }
        select.bind(bytes, at: 1)
        if let parent { select.bind(parent, at: 2) }
        if try select.step() { return select.integer(0) }
        guard creating else { return nil }
        let insert = try IndexStatement(table.insertSQL, database)
        insert.bind(bytes, at: 1)
        if let parent { insert.bind(parent, at: 2) }
        try insert.run()
        return database.lastInsertedRowID
    }
}

extension ResolvedIndexingPolicy {
    /// Resolves a policy.
    ///
    /// - Parameter creating: Whether to assign IDs to fields that have none. A field without an ID is in no document.
    init(_ policy: IndexingPolicy, _ catalog: inout IndexCatalog, creating: Bool, _ database: Database) throws {
        try self.init(policy) { field in
            try catalog.fieldID(field, creating: creating, in: database)
        } compositeID: { fields in
            try catalog.compositeID(fields, creating: creating, in: database)
        }
    }

    /// Returns the entries that a document has under the policy.
    func entries(from entries: IndexEntries, _ catalog: inout IndexCatalog, _ database: Database) throws -> IndexEntries {
        try self.entries(from: entries) { field in try catalog.parentID(of: field, in: database) }
    }
}

extension ResolvedIndexBuildState {
    /// Resolves the policies of a state, and assigns IDs to their fields.
    init(_ state: IndexBuildState, _ catalog: inout IndexCatalog, _ database: Database) throws {
        try self.init(state) { policy in
            try ResolvedIndexingPolicy(policy, &catalog, creating: true, database)
        }
    }
}
