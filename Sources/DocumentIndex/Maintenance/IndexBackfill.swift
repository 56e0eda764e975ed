internal import DocumentModel
internal import GRDB

/// Backfills the entries of the collections with a given ID after their indexing policy changed, in batches of 500 documents.
///
/// The input is the index alone: no document is read. An interrupted backfill starts over from the beginning, which is safe
/// because it is idempotent.
struct IndexBackfill {
    let collection: CollectionID
    /// The number of documents processed.
    private(set) var processedCount = 0
    /// The total number of documents.
    let totalCount: Int
    /// The remaining scopes, in reverse order.
    private var scopes: [Scope] = []
    /// The name of the last document processed in the current scope.
    private var lastName: [UInt8] = []

    /// A scope to process. There are at most two, no matter how many collections have the ID.
    private enum Scope {
        /// The top-level collection, by document ID.
        case topLevel(Int64)
        /// All nested collections, by document path.
        case nested(Int64)

        var id: Int64 {
            switch self {
            case .topLevel(let id), .nested(let id): id
            }
        }
    }

    /// The number of documents per transaction: small enough not to delay commits.
    private static let batchSize = 500

    init(_ collection: CollectionID, _ catalog: inout IndexCatalog, _ database: Database) throws {
        self.collection = collection
        let topLevel = CollectionPath(parent: nil, id: collection)
        if let id = try catalog.scopeID(IndexCatalog.scopeName(of: topLevel), creating: false, in: database) {
            scopes.append(.topLevel(id))
        }
        if let id = try catalog.scopeID(IndexCatalog.scopeName(ofGroup: collection), creating: false, in: database) {
            scopes.append(.nested(id))
        }
        totalCount = try scopes.reduce(0) { sum, scope in
            let sql = "SELECT count(*) FROM documents WHERE scope = ?"
            return try sum + (Int.fetchOne(database, sql: sql, arguments: [scope.id]) ?? 0)
        }
    }

    /// Processes a batch of documents; `false` if none is left.
    mutating func processBatch(_ writer: IndexWriter, _ context: inout IndexWriter.Context) throws -> Bool {
        guard let scope = scopes.last else { return false }
        let names = try names(in: scope, writer.database)
        for name in names {
            if let path = path(name, in: scope) { try writer.backfill(path, &context) }
        }
        try writer.flushEntries(&context)
        processedCount += names.count
        if let last = names.last, names.count == Self.batchSize {
            lastName = last
        } else {
            scopes.removeLast()
            lastName = []
        }
        return true
    }

    private func names(in scope: Scope, _ database: Database) throws -> [[UInt8]] {
        let statement = try IndexStatement(
            "SELECT name FROM documents WHERE scope = ?1 AND name > ?2 ORDER BY name LIMIT \(Self.batchSize)",
            database
        )
        defer { statement.reset() }
        statement.bind(scope.id, at: 1)
        statement.bind(lastName, at: 2)
        var names: [[UInt8]] = []
        while try statement.step() { names.append(Array(statement.bytes(0))) }
        return names
    }

    private func path(_ name: [UInt8], in scope: Scope) -> DocumentPath? {
        switch scope {
        case .topLevel: DocumentPath.ID(nameKey: name).map { CollectionPath(parent: nil, id: collection).document($0) }
        case .nested: DocumentPath(nameKey: name)
        }
    }
}
