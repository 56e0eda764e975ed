internal import DocumentModel
internal import QueryEngine

/// A probe of the index, with its spaces, statements and value prepared once.
///
/// A probe must be used on its snapshot's thread, while the snapshot exists.
final class SQLiteIndexProbe: IndexProbe {
    private struct PreparedLookup {
        let sql: String
        let statement: IndexStatement
        /// The prefix that the names in the space omit.
        let prefix: [UInt8]
    }

    private let snapshot: IndexSnapshot
    private let lookups: [PreparedLookup]

    /// Prepares a probe.
    ///
    /// - Parameter target: The documents to look up.
    init(_ lookup: IndexScan.PointLookup, of target: IndexTarget, _ snapshot: IndexSnapshot) throws(StatusError) {
        self.snapshot = snapshot
        do {
            lookups = try snapshot.spaces(of: target, lookup.index).map { space in
                let (sql, statement) = try snapshot.probeStatement()
                statement.bind(space.id, at: 1)
                statement.bind(lookup.value, at: 2)
                return PreparedLookup(sql: sql, statement: statement, prefix: space.scope.prefix)
            }
        } catch {
            throw IndexDatabaseError(error).status
        }
    }

    deinit {
        for lookup in lookups { snapshot.recycle(lookup.statement, lookup.sql) }
    }

    /// Returns whether the document with a name has an entry.
    func contains(_ name: [UInt8]) throws(StatusError) -> Bool {
        for lookup in lookups where name.starts(with: lookup.prefix) {
            if try contains(name.dropFirst(lookup.prefix.count), lookup.statement) { return true }
        }
        return false
    }

    private func contains(_ name: ArraySlice<UInt8>, _ statement: IndexStatement) throws(StatusError) -> Bool {
        let result = name.withUnsafeBytes { name in
            statement.bind(unowned: name, at: 3)
            defer { statement.reset() }
            return Result { () throws(IndexDatabaseError) in try statement.step() }
        }
        do throws(IndexDatabaseError) {
            return try result.get()
        } catch {
            throw error.status
        }
    }
}
