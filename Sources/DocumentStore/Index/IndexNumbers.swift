internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// The numbers of scopes and fields, as the database has them.
///
/// Those used lately are remembered. What a transaction that failed has added must be forgotten: ``forgetAll()``.
struct IndexNumbers {
    private struct FieldName: Hashable {
        let parent: Int64
        let name: UTF8Key
    }

    private var scopes: [UTF8Key: Int64] = [:]
    private var fields: [FieldName: Int64] = [:]
    private var parents: [Int64: Int64] = [:]

    /// Forgets everything, so that it is read again.
    mutating func forgetAll() {
        scopes.removeAll(keepingCapacity: true)
        fields.removeAll(keepingCapacity: true)
        parents.removeAll(keepingCapacity: true)
    }

    /// The number of a scope, or nil when it has none and none is to be made.
    mutating func scope(_ name: UTF8Key, making makes: Bool, in database: Database) throws -> Int64? {
        if let number = scopes[name] { return number }
        guard let number = try Self.number(of: name, in: .scopes, under: nil, making: makes, database) else { return nil }
        if scopes.count >= Self.maximumCount { scopes.removeAll(keepingCapacity: true) }
        scopes[name] = number
        return number
    }

    /// The number of a field in the map of another one, or at the top for 0; nil when it has none and none is to be made.
    mutating func field(_ name: UTF8Key, under parent: Int64, making makes: Bool, in database: Database) throws -> Int64? {
        let key = FieldName(parent: parent, name: name)
        if let number = fields[key] { return number }
        guard let number = try Self.number(of: name, in: .fields, under: parent, making: makes, database) else { return nil }
        guard number <= IndexSpace.maximumField else {
            throw IndexFailure(damage: "there are more than \(IndexSpace.maximumField) different field paths")
        }
        if fields.count >= Self.maximumCount { fields.removeAll(keepingCapacity: true) }
        fields[key] = number
        return number
    }

    /// The number of a field by its path, or nil when it has none and none is to be made.
    mutating func field(_ path: FieldPath, making makes: Bool, in database: Database) throws -> Int64? {
        var number: Int64 = 0
        for segment in path.segments {
            guard let next = try field(segment, under: number, making: makes, in: database) else { return nil }
            number = next
        }
        return number
    }

    /// The number of an index of several fields, or nil when it has none and none is to be made.
    mutating func composite(_ fields: [IndexDefinition.Field], making makes: Bool, in database: Database) throws -> Int64? {
        try field(IndexRules.name(of: fields), under: -1, making: makes, in: database)
    }

    /// The number of the field in whose map a field is; 0 for one at the top.
    mutating func parent(of field: Int64, in database: Database) throws -> Int64 {
        if let parent = parents[field] { return parent }
        let parent = try Int64.fetchOne(database, sql: "SELECT parent FROM fields WHERE id = ?", arguments: [field]) ?? 0
        if parents.count >= Self.maximumCount { parents.removeAll(keepingCapacity: true) }
        parents[field] = parent
        return parent
    }

    /// The scope of all documents. No collection has its number.
    static let all: Int64 = 0

    /// The scope of a collection.
    static func name(of collection: CollectionPath) -> UTF8Key { UTF8Key(collection.string) }

    /// The scope of all nested collections with an ID; no path begins with a slash.
    static func name(ofGroup id: CollectionID) -> UTF8Key { UTF8Key("/" + id.key.string) }
}

extension IndexNumbers {
    /// How many are remembered.
    private static let maximumCount = 20_000

    private enum Table {
        case scopes
        case fields

        var selecting: String {
            switch self {
            case .scopes: "SELECT id FROM scopes WHERE name = ?1"
            case .fields: "SELECT id FROM fields WHERE name = ?1 AND parent = ?2"
            }
        }

        var inserting: String {
            switch self {
            case .scopes: "INSERT INTO scopes (name) VALUES (?1)"
            case .fields: "INSERT INTO fields (name, parent) VALUES (?1, ?2)"
            }
        }
    }

    private static func number(
        of name: UTF8Key,
        in table: Table,
        under parent: Int64?,
        making makes: Bool,
        _ database: Database
    ) throws -> Int64? {
        let bytes = Array(name.utf8)
        let selection = try IndexStatement(table.selecting, database)
        defer { selection.reset() }
        selection.bind(bytes, at: 1)
        if let parent { selection.bind(parent, at: 2) }
        if try selection.step() { return selection.integer(0) }
        guard makes else { return nil }
        let insertion = try IndexStatement(table.inserting, database)
        insertion.bind(bytes, at: 1)
        if let parent { insertion.bind(parent, at: 2) }
        try insertion.run()
        return database.lastInsertedRowID
    }
}
