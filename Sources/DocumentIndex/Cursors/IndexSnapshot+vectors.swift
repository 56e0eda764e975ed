package import DocumentModel
internal import GRDB
package import QueryEngine

extension IndexSnapshot {
    /// Calls `body` once with the vector of each document of a target that has one in a field, in no defined order, until it returns
    /// `false`.
    package func forEachVector(
        _ target: IndexTarget,
        _ field: FieldPath,
        _ body: (IndexVector) throws(StatusError) -> Bool
    ) throws(StatusError) {
        try withStatusErrors { () throws in
            for source in try vectorSources(target, field) where try !forEachVector(source, body) { return }
        }
    }

    /// Prepares a repeated lookup of the vectors that documents of a target have in a field.
    package func vectorLookup(_ target: IndexTarget, _ field: FieldPath) throws(StatusError) -> any IndexVectorLookup {
        try withStatusErrors { () throws in try SQLiteVectorLookup(vectorSources(target, field), self) }
    }

    /// The vectors of a field of the documents in a scope.
    struct VectorSource {
        let scope: Scope
        let space: VectorSpace
        /// The range of the documents' names in the scope; `nil` if the space has the vectors of no other documents.
        let names: (lower: [UInt8], upper: [UInt8])?
    }

    private func vectorSources(_ target: IndexTarget, _ field: FieldPath) throws -> [VectorSource] {
        guard let fieldID = try fieldID(field) else { return [] }
        let slot = IndexEntries.slot(field: fieldID, kind: .value)
        return try scopes(of: target).compactMap { scope in
            var spaceScope = scope.id
            var names: (lower: [UInt8], upper: [UInt8])?
            switch target {
            case .collection(let path) where path.parent != nil:
                guard let group = try scopeID(IndexCatalog.scopeName(ofGroup: path.id)) else { return nil }
                (spaceScope, names) = (group, ([], [0xff]))
            case .group(_, below: let parent?):
                let ancestor = NameKey(parent)
                names = (ancestor.bytes + [0], ancestor.prefixUpperBound)
            case .collection, .group: break
            case .all: return nil
            }
            let space = try VectorSpace.find(IndexSpace(scope: spaceScope, slot: slot), creating: false, database)
            return space.map { VectorSource(scope: scope, space: $0, names: names) }
        }
    }

    /// Returns `false` if `body` has stopped the iteration.
    private func forEachVector(
        _ source: VectorSource,
        _ body: (IndexVector) throws(StatusError) -> Bool
    ) throws -> Bool {
        let sql =
            source.names == nil
            ? "SELECT name, isExact, vector FROM vectors WHERE id >= ?1 AND id < ?2"
            : """
            SELECT row.name, vector.isExact, vector.vector FROM documents row CROSS JOIN vectors vector ON vector.id = row.content + ?1
            WHERE row.scope = ?2 AND row.name >= ?3 AND row.name < ?4
            """
        let statement = try idleStatement(sql)
        defer { recycle(statement, sql) }
        if let names = source.names {
            statement.bind(source.space.base, at: 1)
            statement.bind(source.scope.id, at: 2)
            statement.bind(names.lower, at: 3)
            statement.bind(names.upper, at: 4)
        } else {
            statement.bind(source.space.rows.lowerBound, at: 1)
            statement.bind(source.space.rows.upperBound, at: 2)
        }
        let prefix = source.scope.prefix
        var name = prefix
        var rowCount = 0
        while try statement.step() {
            rowCount += 1
            if rowCount.isMultiple(of: Self.cancellationCheckInterval) { try checkCancellation() }
            let (suffix, isExact, bytes) = (statement.bytes(0), statement.integer(1) == 1, statement.bytes(2))
            if prefix.isEmpty {
                guard try body(IndexVector(name: suffix, bytes: bytes, isExact: isExact)) else { return false }
                continue
            }
            name.removeSubrange(prefix.count...)
            name.append(contentsOf: suffix)
            let continues = try name.withUnsafeBytes { name throws(StatusError) in
                try body(IndexVector(name: name, bytes: bytes, isExact: isExact))
            }
            guard continues else { return false }
        }
        return true
    }
}

/// A lookup of vectors, with its statements prepared once.
///
/// A lookup must be used on its snapshot's thread, while the snapshot exists.
private final class SQLiteVectorLookup: IndexVectorLookup {
    private let snapshot: IndexSnapshot
    private let sources: [(IndexStatement, prefix: [UInt8])]

    private static let sql = """
        SELECT vector.isExact, vector.vector FROM documents row CROSS JOIN vectors vector ON vector.id = row.content + ?1
        WHERE row.scope = ?2 AND row.name = ?3
        """

    init(_ sources: [IndexSnapshot.VectorSource], _ snapshot: IndexSnapshot) throws {
        self.snapshot = snapshot
        self.sources = try sources.map { source in
            let statement = try snapshot.idleStatement(Self.sql)
            statement.bind(source.space.base, at: 1)
            statement.bind(source.scope.id, at: 2)
            return (statement, source.scope.prefix)
        }
    }

    deinit {
        for (statement, _) in sources { snapshot.recycle(statement, Self.sql) }
    }

    /// Calls `body` with the vector of the document with a name, if it has one.
    func withVector(of name: [UInt8], _ body: (IndexVector) throws(StatusError) -> Void) throws(StatusError) {
        for (statement, prefix) in sources where name.starts(with: prefix) {
            defer { statement.reset() }
            let result = name.withUnsafeBytes { name in
                statement.bind(unowned: UnsafeRawBufferPointer(rebasing: name[prefix.count...]), at: 3)
                return Result { () throws(StatusError) in
                    let isFound = try snapshot.withStatusErrors { () throws in try statement.step() }
                    guard isFound else { return }
                    let (isExact, bytes) = (statement.integer(0) == 1, statement.bytes(1))
                    try body(IndexVector(name: name, bytes: bytes, isExact: isExact))
                }
            }
            try result.get()
        }
    }
}
