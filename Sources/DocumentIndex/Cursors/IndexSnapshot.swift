package import DocumentModel
package import DocumentStore
internal import GRDB
package import QueryEngine
internal import UTF8Text

/// A consistent view of the index as of one commit, in a read transaction.
///
/// A snapshot is confined to the thread that it was created on. Cursors return rows in index order and read them on demand, so memory
/// use does not depend on the number of rows. While a snapshot exists, SQLite cannot checkpoint later changes out of the WAL, so
/// snapshots should be short-lived.
///
/// All calls throw `.cancelled` when the reader's task is cancelled, and `.unavailable` when the index cannot be read.
package final class IndexSnapshot: QueryIndex {
    /// The last commit in the snapshot.
    package let sequence: SequenceNumber
    /// The time of that commit; `nil` before the first commit.
    package let commitTime: Timestamp?

    let database: Database
    private let operation: IndexReadOperation
    private var catalog = IndexCatalog()
    private var idleStatements: [String: [IndexStatement]] = [:]
    private var ownedStatements: [Statement] = []
    private var isEnded = false

    /// Creates a snapshot in an open transaction.
    ///
    /// - Parameter file: The file that the transaction must read.
    init(_ database: Database, _ operation: IndexReadOperation, of file: IndexFile) throws {
        guard let header = try IndexFileHeader(database), file.isKnown(header.edition) else {
            throw IndexDatabaseError.fileReplaced
        }
        sequence = header.sequence
        commitTime = header.time
        self.database = database
        self.operation = operation
    }

    /// Checks for cancellation and for the limit on long-running reads. It must also be called between statements, since
    /// an interruption reaches only the statement that is running.
    package func checkCancellation() throws(StatusError) {
        try operation.check()
    }

    /// Invalidates all cursors.
    func end() {
        isEnded = true
        idleStatements = [:]
        ownedStatements = []
    }

    /// Returns the documents of a source that could not be read when the index was built.
    package func unreadablePaths(in source: StructuredQuery.Source) throws(StatusError) -> [DocumentPath] {
        try withStatusErrors { () throws in
            let prefix =
                switch source {
                case .collection(let path): NameKey(path).bytes
                case .collectionGroup(_, let parent), .descendants(let parent): parent.map { NameKey($0).bytes } ?? []
                }
            let sql = "SELECT name FROM documents WHERE scope = ?1 AND name >= ?2 AND name < ?3"
            let statement = try idleStatement(sql)
            defer { recycle(statement, sql) }
            statement.bind(IndexCatalog.unreadableDocuments, at: 1)
            statement.bind(prefix, at: 2)
            statement.bind(prefix + [0xff], at: 3)
            var paths: [DocumentPath] = []
            while try statement.step() {
                if let path = DocumentPath(nameKey: statement.bytes(0)), source.contains(path) { paths.append(path) }
            }
            return paths
        }
    }

    /// Opens a cursor. Probes are joined in SQL, which takes half the time of separate statements.
    package func cursor(_ scan: IndexScan, probing lookups: [IndexScan.PointLookup]) throws(StatusError) -> any IndexCursor {
        try withStatusErrors { () throws in
            var slots: [(Int64, value: [UInt8])] = []
            for lookup in lookups {
                guard let slot = try slot(of: lookup.index) else { return SQLiteIndexCursor(self, [], isDescending: false) }
                slots.append((slot, lookup.value))
            }
            let sources = try spaces(of: scan.target, scan.index).map { space in
                let probes = slots.map { slot, value in
                    SQLiteIndexCursor.JoinedProbe(space: space.scope.space(slot), value: value)
                }
                return try SQLiteIndexCursor.Source(self, scan, space, probes)
            }
            return SQLiteIndexCursor(self, sources, isDescending: scan.isDescending)
        }
    }

    /// Prepares a repeated point lookup.
    package func probe(_ lookup: IndexScan.PointLookup, of target: IndexTarget) throws(StatusError) -> any IndexProbe {
        try SQLiteIndexProbe(lookup, of: target, self)
    }

    /// Calls `body` with each row of a scan, in no defined order, until it returns `false`.
    package func forEachEntry(
        _ scan: IndexScan,
        _ body: (IndexEntry) throws(StatusError) -> Bool
    ) throws(StatusError) {
        try withStatusErrors { () throws in
            for space in try spaces(of: scan.target, scan.index) where try !forEachEntry(scan, space, body) { return }
        }
    }

    /// Returns the number of rows of a scan, counted up to `limit`.
    package func count(_ scan: IndexScan, limit: Int?) throws(StatusError) -> Int {
        try withStatusErrors { () throws in
            var count = 0
            for space in try spaces(of: scan.target, scan.index) {
                let rest = limit.map { $0 - count }
                if let rest, rest <= 0 { break }
                count += try self.count(scan, space, limit: rest)
            }
            return count
        }
    }

    /// Returns the size of a collection, or of all documents for `nil`.
    package func size(of collection: CollectionPath?) throws(StatusError) -> CollectionSize {
        try withStatusErrors { () throws in
            let scope = try collection.map { try scopeID(IndexCatalog.scopeName(of: $0)) }
            guard let scope = scope ?? IndexCatalog.allDocuments else { return .zero }
            let statement = try IndexStatement("SELECT documents, bytes FROM sizes WHERE scope = ?1", database)
            defer { statement.reset() }
            statement.bind(scope, at: 1)
            guard try statement.step() else { return .zero }
            return CollectionSize(documentCount: Int(statement.integer(0)), byteCount: Int(statement.integer(1)))
        }
    }

    /// Returns the indexing policy that queries of the collections with a given ID can rely on.
    ///
    /// - Parameter collection: The collection ID; `nil` for queries of all documents.
    package func policy(of collection: CollectionID?) throws(StatusError) -> IndexingPolicy {
        guard let collection else { return .namesOnly }
        return try withStatusErrors { () throws in
            try IndexBuildState.fetch(collection, database)?.readable ?? IndexingPolicy()
        }
    }

    /// Runs `body` and converts its errors to those that a client sees.
    func withStatusErrors<Result>(_ body: () throws -> Result) throws(StatusError) -> Result {
        try checkCancellation()
        do {
            return try body()
        } catch let error as StatusError {
            throw error
        } catch {
            throw IndexDatabaseError(error).status
        }
    }
}

extension IndexSnapshot {
    /// A scope that contains documents of a target.
    struct Scope {
        let id: Int64
        /// The prefix that the names in the scope omit, compared with the target's names.
        var prefix: [UInt8] = []

        /// Returns the space of a slot's entries.
        func space(_ slot: Int64) -> Int64 { IndexSpace(scope: id, slot: slot).id }
    }

    /// A space that contains rows of a scan.
    struct Space {
        let scope: Scope
        let id: Int64
    }

    /// Returns the spaces of a target's index; none if the collection or the field does not exist.
    func spaces(of target: IndexTarget, _ index: IndexScan.Index) throws -> [Space] {
        if index == .documents { return try scopes(of: target).map { Space(scope: $0, id: $0.id) } }
        guard let slot = try slot(of: index) else { return [] }
        return try scopes(of: target).map { Space(scope: $0, id: $0.space(slot)) }
    }

    func scopes(of target: IndexTarget) throws -> [Scope] {
        switch target {
        case .collection(let path):
            return try scopeID(IndexCatalog.scopeName(of: path)).map { [Scope(id: $0)] } ?? []
        case .group(let collection, below: let parent):
            var scopes: [Scope] = []
            if let nested = try scopeID(IndexCatalog.scopeName(ofGroup: collection)) { scopes.append(Scope(id: nested)) }
            // A top-level collection is below no document.
            let topLevel = CollectionPath(parent: nil, id: collection)
            if parent == nil, let id = try scopeID(IndexCatalog.scopeName(of: topLevel)) {
                scopes.append(Scope(id: id, prefix: NameKey(topLevel).bytes))
            }
            return scopes
        case .all:
            return [Scope(id: IndexCatalog.allDocuments)]
        }
    }

    /// Returns the slot of an index; `nil` if it has no entries.
    private func slot(of index: IndexScan.Index) throws -> Int64? {
        switch index {
        case .documents: nil
        case .values(of: let path): try fieldID(path).map { IndexEntries.slot(field: $0, kind: .value) }
        case .elements(of: let path): try fieldID(path).map { IndexEntries.slot(field: $0, kind: .element) }
        case .composite(let fields):
            try catalog.compositeID(fields, creating: false, in: database).map { IndexEntries.slot(field: $0, kind: .value) }
        }
    }

    func scopeID(_ name: UTF8Key) throws -> Int64? {
        try catalog.scopeID(name, creating: false, in: database)
    }

    func fieldID(_ path: FieldPath) throws -> Int64? {
        try catalog.fieldID(path, creating: false, in: database)
    }
}

extension IndexSnapshot {
    /// Returns a statement for a scan of a space, with joined probes.
    func scanStatement(
        _ scan: IndexScan,
        _ bounds: IndexScan.Bounds,
        probeCount: Int
    ) throws -> (sql: String, IndexStatement) {
        let direction = scan.isDescending ? "DESC" : "ASC"
        // Each probe depends on the one before, so that none runs after a miss.
        let joins: String = (0..<probeCount).map { index in
            let (space, value) = SQLiteIndexCursor.JoinedProbe.parameters(index)
            let previous = index == 0 ? "row" : "probe\(index - 1)"
            return " LEFT JOIN entries probe\(index) ON probe\(index).space = ?\(space) AND probe\(index).value = ?\(value)"
                + " AND probe\(index).name = \(previous).name"
        }.joined()
        let matches = (0..<probeCount).map { "(probe\($0).name IS NOT NULL)" }.joined(separator: " + ")
        let matchColumn = probeCount == 0 ? "" : ", \(matches)"
        let sql =
            switch scan.index {
            case .documents:
                "SELECT x'', row.name\(matchColumn) FROM documents row\(joins) WHERE \(Self.documentsCondition)"
                    + " ORDER BY row.name \(direction)"
            case .values, .elements, .composite:
                "SELECT row.value, row.name\(matchColumn) FROM entries row\(joins) WHERE \(Self.entriesCondition(bounds))"
                    + " ORDER BY row.value \(direction), row.name \(direction)"
            }
        return (sql, try idleStatement(sql))
    }

    /// Returns a statement that looks up an entry by space (parameter 1), value (2) and name (3).
    func probeStatement() throws -> (sql: String, IndexStatement) {
        let sql = "SELECT 1 FROM entries WHERE space = ?1 AND value = ?2 AND name = ?3"
        return (sql, try idleStatement(sql))
    }

    /// Returns a statement that is not in use; see ``recycle(_:_:)``.
    func idleStatement(_ sql: String) throws -> IndexStatement {
        try idleStatements[sql]?.popLast() ?? IndexStatement(uncached: sql, database, &ownedStatements)
    }

    /// Returns a statement to the snapshot for reuse.
    func recycle(_ statement: IndexStatement, _ sql: String) {
        guard !isEnded else { return }
        statement.reset()
        idleStatements[sql, default: []].append(statement)
    }

    /// Returns `false` if `body` has stopped the iteration.
    private func forEachEntry(
        _ scan: IndexScan,
        _ space: Space,
        _ body: (IndexEntry) throws(StatusError) -> Bool
    ) throws -> Bool {
        let prefix = space.scope.prefix
        guard let bounds = scan.bounds.removingPrefix(prefix) else { return true }
        let columns = scan.index == .documents ? "x'', row.name, 0" : "row.value, row.name, row.isDouble"
        let sql = "SELECT \(columns) \(Self.rows(of: scan, bounds))"
        let statement = try idleStatement(sql)
        defer { recycle(statement, sql) }
        statement.bind(space.id, bounds)
        var name = prefix
        var rowCount = 0
        while try statement.step() {
            rowCount += 1
            if rowCount.isMultiple(of: Self.cancellationCheckInterval) { try checkCancellation() }
            let (value, isDouble, suffix) = (statement.bytes(0), statement.integer(2) == 1, statement.bytes(1))
            if prefix.isEmpty {
                guard try body(IndexEntry(value: value, isDouble: isDouble, name: suffix)) else { return false }
                continue
            }
            name.removeSubrange(prefix.count...)
            name.append(contentsOf: suffix)
            let continues = try name.withUnsafeBytes { name throws(StatusError) in
                try body(IndexEntry(value: value, isDouble: isDouble, name: name))
            }
            guard continues else { return false }
        }
        return true
    }

    /// The number of rows between two checks for cancellation.
    static let cancellationCheckInterval = 256

    private func count(_ scan: IndexScan, _ space: Space, limit: Int?) throws -> Int {
        guard let bounds = scan.bounds.removingPrefix(space.scope.prefix) else { return 0 }
        let rows = Self.rows(of: scan, bounds)
        let sql = limit == nil ? "SELECT count(*) \(rows)" : "SELECT count(*) FROM (SELECT 1 \(rows) LIMIT ?8)"
        let statement = try IndexStatement(sql, database)
        defer { statement.reset() }
        statement.bind(space.id, bounds)
        if let limit { statement.bind(Int64(limit), at: 8) }
        return try statement.step() ? Int(statement.integer(0)) : 0
    }

    private static func rows(of scan: IndexScan, _ bounds: IndexScan.Bounds) -> String {
        scan.index == .documents
            ? "FROM documents row WHERE \(documentsCondition)" : "FROM entries row WHERE \(entriesCondition(bounds))"
    }

    private static let documentsCondition = "row.scope = ?1 AND row.name >= ?3 AND row.name < ?5"

    private static func entriesCondition(_ bounds: IndexScan.Bounds) -> String {
        // SQLite evaluates row-value comparisons per row, which takes three times as long.
        if bounds.lower.value == bounds.upper.value, bounds.names == nil {
            return "row.space = ?1 AND row.value = ?2 AND row.name >= ?3 AND row.name < ?5"
        }
        if bounds.lower.name.isEmpty, bounds.upper.name.isEmpty, bounds.names == nil {
            return "row.space = ?1 AND row.value >= ?2 AND row.value < ?4"
        }
        return "row.space = ?1 AND (row.value, row.name) >= (?2, ?3) AND (row.value, row.name) < (?4, ?5)"
            + (bounds.names == nil ? "" : " AND row.name >= ?6 AND row.name < ?7")
    }
}

extension SQLiteIndexCursor.JoinedProbe {
    /// Returns the parameters of a probe in a scan statement; they follow those of the bounds.
    fileprivate static func parameters(_ index: Int) -> (space: Int32, value: Int32) {
        let first = boundsParameterCount + 1 + 2 * Int32(index)
        return (first, first + 1)
    }

    private static let boundsParameterCount: Int32 = 7
}

extension IndexStatement {
    /// Binds the bounds of a scan in a space.
    func bind(_ space: Int64, _ bounds: IndexScan.Bounds) {
        bind(space, at: 1)
        bind(bounds.lower.value, at: 2)
        bind(bounds.lower.name, at: 3)
        bind(bounds.upper.value, at: 4)
        bind(bounds.upper.name, at: 5)
        guard let names = bounds.names else { return }
        bind(names.lowerBound.bytes, at: 6)
        bind(names.upperBound.bytes, at: 7)
    }

    /// Binds the parameters of a joined probe.
    func bind(_ probe: SQLiteIndexCursor.JoinedProbe, index: Int) {
        let parameters = SQLiteIndexCursor.JoinedProbe.parameters(index)
        bind(probe.space, at: parameters.space)
        bind(probe.value, at: parameters.value)
    }
}
