internal import DocumentModel

/// Looks again and again whether a document is among the entries of one value.
///
/// All that is the same for each document is done once: the space's number, the statement and the value. Used only where its
/// snapshot is, and not after it.
final class IndexLook {
    private struct Place {
        let sql: String
        let statement: IndexStatement
        /// What stands before the names there.
        let prefix: [UInt8]
    }

    private let snapshot: IndexSnapshot
    private let places: [Place]

    /// - Parameters:
    ///   - point: The value.
    ///   - target: The documents that are looked for.
    init(_ point: IndexScan.Point, of target: IndexTarget, _ snapshot: IndexSnapshot) throws(StatusError) {
        self.snapshot = snapshot
        do {
            places = try snapshot.spaces(of: target, point.subject).map { space in
                let (sql, statement) = try snapshot.statementForLooks()
                statement.bind(space.number, at: 1)
                statement.bind(point.value, at: 2)
                return Place(sql: sql, statement: statement, prefix: space.scope.prefix)
            }
        } catch {
            throw IndexFailure(error).status
        }
    }

    deinit {
        for place in places { snapshot.giveBack(place.statement, place.sql) }
    }

    /// Whether the document is there.
    func holds(_ name: [UInt8]) throws(StatusError) -> Bool {
        for place in places where name.starts(with: place.prefix) {
            if try holds(name.dropFirst(place.prefix.count), place.statement) { return true }
        }
        return false
    }

    private func holds(_ name: ArraySlice<UInt8>, _ statement: IndexStatement) throws(StatusError) -> Bool {
        let result = name.withUnsafeBytes { name in
            statement.bind(unowned: name, at: 3)
            defer { statement.reset() }
            return Result { () throws(IndexFailure) in try statement.step() }
        }
        do throws(IndexFailure) {
            return try result.get()
        } catch {
            throw error.status
        }
    }
}
