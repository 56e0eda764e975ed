internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// Which entries the documents of the collections with one ID have, beside those of every other document.
struct IndexRules: Hashable {
    /// The indexes of several fields.
    var composites: Set<[IndexDefinition.Field]> = []
    /// The fields that have no entries of their own, with all that is in them.
    var exempt: Set<FieldPath> = []
    /// Whether no field has entries, so that documents can be found by their names only.
    private(set) var isOfNamesOnly = false

    /// What there is of all collections together.
    static let namesOnly: IndexRules = {
        var rules = IndexRules()
        rules.isOfNamesOnly = true
        return rules
    }()

    /// Whether a field has no entries of its own.
    func isExempt(_ field: FieldPath) -> Bool {
        isOfNamesOnly || exempt.contains { field.segments.starts(with: $0.segments) }
    }
}

/// How far the entries of the collections with one ID are from what they should be.
///
/// While they are changed, document by document, each document has at most the entries of ``present`` and at least those of
/// ``ready``: whoever takes a document out removes the former, and queries count on the latter alone.
struct IndexRuleState: Hashable {
    /// What there may be.
    private(set) var present = IndexRules()
    /// What there is surely.
    private(set) var ready = IndexRules()
    /// What there is to be.
    private(set) var target = IndexRules()

    /// Whether all is as it should be.
    var isSettled: Bool { present == target && ready == target }

    /// All is so from the beginning.
    init(settled rules: IndexRules = IndexRules()) {
        (present, ready, target) = (rules, rules, rules)
    }

    /// Takes other rules for the documents that are changed from now on.
    mutating func aim(at rules: IndexRules) {
        target = rules
        present.composites.formUnion(rules.composites)
        present.exempt.formIntersection(rules.exempt)
        ready.composites.formIntersection(rules.composites)
        ready.exempt.formUnion(rules.exempt)
    }

    /// Notes that all documents are as they should be.
    mutating func settle() {
        self = IndexRuleState(settled: target)
    }
}

extension IndexRuleState {
    /// The states of all collections that have rules, or had.
    static func all(_ database: Database) throws -> [CollectionID: IndexRuleState] {
        let rows = try Row.fetchAll(database, sql: "SELECT collection, present, ready, target FROM rules")
        var states: [CollectionID: IndexRuleState] = [:]
        for row in rows {
            let (collection, state) = try (CollectionID(row[0]), IndexRuleState(row))
            states[collection] = state
        }
        return states
    }

    /// The state of the collections with an ID; nil where there are no rules.
    static func of(_ collection: CollectionID, _ database: Database) throws -> IndexRuleState? {
        try Row.fetchOne(
            database,
            sql: "SELECT collection, present, ready, target FROM rules WHERE collection = ?",
            arguments: [collection.key.string]
        ).map { try IndexRuleState($0) }
    }

    private init(_ row: Row) throws {
        (present, ready, target) = try (IndexRules(text: row[1]), IndexRules(text: row[2]), IndexRules(text: row[3]))
    }

    /// Writes the state of the collections with an ID.
    func store(_ collection: CollectionID, _ database: Database) throws {
        guard !isSettled || target != IndexRules() else {
            return try database.execute(sql: "DELETE FROM rules WHERE collection = ?", arguments: [collection.key.string])
        }
        try database.execute(
            sql: "INSERT OR REPLACE INTO rules (collection, present, ready, target) VALUES (?, ?, ?, ?)",
            arguments: [collection.key.string, present.text, ready.text, target.text]
        )
    }
}

extension IndexRules {
    /// The rules as the index keeps them; equal ones need not have equal texts.
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
        for json in composites {
            guard let fields = Self.fields(json) else { throw Self.unreadable }
            self.composites.insert(fields)
        }
        for json in exempt { self.exempt.insert(try FieldPath(json.string ?? "")) }
    }

    private static let unreadable = IndexFailure(damage: "what is indexed can't be read")

    /// Reads the fields of an index; nil when they are none.
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

    /// The name under which an index has its number among the fields.
    static func name(of composite: [IndexDefinition.Field]) -> UTF8Key {
        var writer = JSONWriter()
        writer.fields(composite)
        return UTF8Key(String(decoding: writer.finish(), as: UTF8.self))
    }
}

extension JSONWriter {
    /// Writes the fields of an index.
    mutating func fields(_ fields: [IndexDefinition.Field]) {
        beginArray()
        for field in fields {
            beginObject()
            key("field")
            string(field.field.description)
            key("direction")
            string(field.direction == .ascending ? "asc" : "desc")
            endObject()
        }
        endArray()
    }
}
