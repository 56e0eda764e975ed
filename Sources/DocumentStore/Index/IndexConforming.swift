internal import DocumentModel
internal import GRDB

/// Gives the documents of the collections with an ID the entries that they should have by other rules than before, some at a
/// time.
///
/// All it needs is in the index: no document is read. Where it is interrupted it is begun again, which does no harm.
struct IndexConforming {
    let collection: CollectionID
    /// How many documents are done.
    private(set) var documents = 0
    /// How many there are.
    let count: Int
    /// The scopes that are left, the last one first.
    private var scopes: [Scope] = []
    /// The name of the last document that was done in the next of these.
    private var name: [UInt8] = []

    /// Each of its documents is in one of two scopes, however many collections there are.
    private enum Scope {
        /// The collection at the top, by the documents' IDs.
        case top(Int64)
        /// All nested collections, by the documents' paths.
        case nested(Int64)

        var number: Int64 {
            switch self {
            case .top(let number), .nested(let number): number
            }
        }
    }

    /// How many documents are done at a time: few enough that commits need not wait long.
    private static let stepCount = 500

    init(_ collection: CollectionID, _ numbers: inout IndexNumbers, _ database: Database) throws {
        self.collection = collection
        let top = CollectionPath(parent: nil, id: collection)
        if let own = try numbers.scope(IndexNumbers.name(of: top), making: false, in: database) { scopes.append(.top(own)) }
        let group = try numbers.scope(IndexNumbers.name(ofGroup: collection), making: false, in: database)
        if let group { scopes.append(.nested(group)) }
        count = try scopes.reduce(0) { sum, scope in
            sum
                + (try Int.fetchOne(database, sql: "SELECT count(*) FROM documents WHERE scope = ?", arguments: [scope.number])
                    ?? 0)
        }
    }

    /// Does some documents; false when there is none left.
    mutating func step(_ writer: IndexWriter, _ memory: inout IndexWriter.Memory) throws -> Bool {
        guard let scope = scopes.last else { return false }
        let names = try names(in: scope, writer.database)
        for name in names {
            if let path = path(name, in: scope) { try writer.conform(path, &memory) }
        }
        try writer.run(&memory)
        documents += names.count
        if let last = names.last, names.count == Self.stepCount {
            name = last
        } else {
            scopes.removeLast()
            name = []
        }
        return true
    }

    private func names(in scope: Scope, _ database: Database) throws -> [[UInt8]] {
        let statement = try IndexStatement(
            "SELECT name FROM documents WHERE scope = ?1 AND name > ?2 ORDER BY name LIMIT \(Self.stepCount)",
            database
        )
        defer { statement.reset() }
        statement.bind(scope.number, at: 1)
        statement.bind(name, at: 2)
        var names: [[UInt8]] = []
        while try statement.step() { names.append(Array(statement.bytes(0))) }
        return names
    }

    private func path(_ name: [UInt8], in scope: Scope) -> DocumentPath? {
        switch scope {
        case .top: DocumentID(nameKey: name).map { CollectionPath(parent: nil, id: collection).document($0) }
        case .nested: DocumentPath(nameKey: name)
        }
    }
}
