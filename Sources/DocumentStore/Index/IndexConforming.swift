internal import DocumentModel
internal import GRDB
internal import StrictJSON

/// Gives the documents of the collections with an ID the entries that they should have by other rules than before, some at a
/// time.
///
/// All it needs is in the index: no document is read. Where it is interrupted it is begun again, which does no harm.
struct IndexConforming {
    let collection: CollectionID
    /// How many documents are done.
    private(set) var documents = 0
    /// The collections that are left, the last one first, with their scopes.
    private var scopes: [(number: Int64, path: CollectionPath)] = []
    /// The name of the last document that was done in the next of these.
    private var name: [UInt8] = []

    /// How many documents are done at a time: few enough that commits need not wait long.
    private static let stepCount = 500

    init(_ collection: CollectionID, _ database: Database) throws {
        self.collection = collection
        let statement = try IndexStatement("SELECT id, name FROM scopes", database)
        defer { statement.reset() }
        while try statement.step() {
            let path = String(validating: statement.bytes(1), as: UTF8.self).flatMap { try? CollectionPath($0) }
            if let path, path.id == collection { scopes.append((statement.integer(0), path)) }
        }
    }

    /// Does some documents; false when there is none left.
    mutating func step(_ writer: IndexWriter, _ memory: inout IndexWriter.Memory) throws -> Bool {
        guard let scope = scopes.last else { return false }
        let statement = try IndexStatement(
            "SELECT name FROM documents WHERE scope = ?1 AND name > ?2 ORDER BY name LIMIT \(Self.stepCount)",
            writer.database
        )
        statement.bind(scope.number, at: 1)
        statement.bind(name, at: 2)
        var names: [[UInt8]] = []
        while try statement.step() { names.append(Array(statement.bytes(0))) }
        statement.reset()
        for name in names {
            if let id = DocumentID(nameKey: name) { try writer.conform(scope.path.document(id), &memory) }
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
}
