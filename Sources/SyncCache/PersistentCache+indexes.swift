package import DocumentModel
internal import GRDB
package import SyncEngine
internal import UTF8Text

extension PersistentCache {
    /// Returns whether an index exists and has all entries.
    package func isComplete(_ index: FieldIndex) throws(StatusError) -> Bool {
        try cache.read { try $0.completeIndex(index) != nil }
    }

    /// True if there are indexes without some of their entries, or removed ones with some.
    package var hasIncompleteIndexes: Bool {
        get throws(StatusError) {
            try cache.read { database in
                try CacheStatement("SELECT 1 FROM field_index WHERE filled IS NOT NULL", database).firstRow { _ in true } ?? false
            }
        }
    }

    /// Calls `visit` with the existing documents in a range of an index, in the order of their keys, until it returns false.
    package func visitDocuments(
        in scan: IndexScan,
        _ visit: (RemoteDocument) throws(StatusError) -> Bool
    ) throws(StatusError) {
        try cache.read { database in
            guard let index = try database.completeIndex(scan.index) else { return }
            let statement = try CacheStatement(
                """
                SELECT \(Self.documentColumns), collection.path FROM entry
                CROSS JOIN document ON document.id = entry.document CROSS JOIN collection ON collection.id = document.collection
                WHERE field_index = ? AND key >= ? AND key < ? ORDER BY key \(scan.isReversed ? "DESC" : "ASC")
                """,
                database
            )
            statement.bind(index, at: 1)
            statement.bind(bytes: scan.range.lower, at: 2)
            statement.bind(bytes: scan.range.upper, at: 3)
            var collection: (text: String, path: CollectionPath)?
            try statement.visitRows { row in
                let text = try row.text(8)
                if collection?.text.utf8.elementsEqual(text.utf8) != true { collection = (text, try CollectionPath(text)) }
                guard let collection else { return false }
                let document = try RemoteDocument(row, at: collection.path.document(DocumentPath.ID(row.text(0))))
                return try VisitorError.wrapping { () throws(StatusError) in try visit(document) }
            }
        }
    }

    /// Adds those indexes without entries that do not exist, and records a use of all.
    package mutating func addIndexes(_ indexes: Set<FieldIndex>) throws(StatusError) {
        try write(to: cache) { database in
            // A new number, so that queries after this use their indexes later.
            let use = try database.cacheState("lastUse") + 1
            try database.setCacheState("lastUse", to: use)
            let insertion = try CacheStatement(
                """
                INSERT INTO field_index (definition, filled, lastUse) VALUES (?1, 0, ?2)
                ON CONFLICT (definition) DO UPDATE SET lastUse = ?2
                """,
                database
            )
            for index in indexes {
                insertion.bind(text: StoredJSON.encode(index), at: 1)
                insertion.bind(use, at: 2)
                try insertion.run()
            }
            try database.removeIndexes(beyond: FieldIndex.maximumCount)
        }
    }

    /// Records that a query has used indexes.
    package mutating func touch(_ indexes: Set<FieldIndex>) throws(StatusError) {
        let definitions = indexes.map { StoredJSON.encode($0) }
        let outdated = try cache.read { database in
            let lookup = try CacheStatement(
                "SELECT 1 FROM field_index WHERE definition = ? AND lastUse < (SELECT lastUse FROM state)",
                database
            )
            return try definitions.filter { definition in
                lookup.bind(text: definition, at: 1)
                return try lookup.firstRow { _ in true } != nil
            }
        }
        guard !outdated.isEmpty else { return }
        try write(to: cache) { database in
            let update = try CacheStatement(
                "UPDATE field_index SET lastUse = (SELECT lastUse FROM state) WHERE definition = ?",
                database
            )
            for definition in outdated {
                update.bind(text: definition, at: 1)
                try update.run()
            }
        }
    }

    /// Adds the entries of some documents to an incomplete index, or deletes entries of a removed one, up to 20 for each document.
    package mutating func fillIndexes(maximumCount: Int) throws(StatusError) -> Bool {
        try write(to: cache) { [definitions] database in
            if try database.deleteRemovedEntries(maximumCount: 20 * maximumCount) { return true }
            for index in try StoredIndex.all(in: database, definitions) {
                guard let filled = index.filled else { continue }
                try database.fill(index, after: filled, maximumCount: maximumCount)
                return true
            }
            return false
        }
    }

    /// Removes all indexes. Their entries are deleted by ``fillIndexes(maximumCount:)``.
    package mutating func removeIndexes() throws(StatusError) {
        try write(to: cache) { try $0.removeIndexes(beyond: 0) }
    }
}

extension Database {
    /// Returns the ID of an index; `nil` if it is absent or incomplete.
    fileprivate func completeIndex(_ index: FieldIndex) throws -> Int64? {
        let lookup = try CacheStatement("SELECT id FROM field_index WHERE definition = ? AND filled IS NULL", self)
        lookup.bind(text: StoredJSON.encode(index), at: 1)
        return try lookup.firstRow { try $0.integer(0) }
    }

    /// Removes the least recently used indexes beyond a number. Of those that queries have used since the same change of the number of
    /// uses, the older first.
    ///
    /// Their entries are deleted later, in small transactions.
    fileprivate func removeIndexes(beyond count: Int) throws {
        let update = try CacheStatement(
            """
            UPDATE field_index SET definition = id, filled = 0, isRemoved = 1 WHERE id IN (
                SELECT id FROM field_index WHERE isRemoved = 0 ORDER BY lastUse DESC, id DESC LIMIT -1 OFFSET ?
            )
            """,
            self
        )
        update.bind(count, at: 1)
        try update.run()
    }

    /// Deletes entries of removed indexes. Returns false if there are no such indexes.
    fileprivate func deleteRemovedEntries(maximumCount: Int) throws -> Bool {
        let lookup = try CacheStatement("SELECT id FROM field_index WHERE isRemoved = 1", self)
        guard let index = try lookup.firstRow({ try $0.integer(0) }) else { return false }
        let scan = try CacheStatement("SELECT key, document FROM entry WHERE field_index = ? LIMIT ?", self)
        scan.bind(index, at: 1)
        scan.bind(maximumCount, at: 2)
        var entries: [(key: [UInt8], document: Int64)] = []
        try scan.forEachRow { entries.append(($0.bytes(0), try $0.integer(1))) }
        let deletion = try CacheStatement(IndexMaintainer.deletion, self)
        for entry in entries {
            deletion.bind(index, at: 1)
            deletion.bind(bytes: entry.key, at: 2)
            deletion.bind(entry.document, at: 3)
            try deletion.run()
        }
        if entries.count < maximumCount {
            let removal = try CacheStatement("DELETE FROM field_index WHERE id = ?", self)
            removal.bind(index, at: 1)
            try removal.run()
        }
        return true
    }

    /// Adds the entries of documents after one.
    ///
    /// - Parameter maximumCount: The maximum number of documents with entries. Up to 20 times as many others are passed.
    fileprivate func fill(_ stored: StoredIndex, after filled: Int64, maximumCount: Int) throws {
        let scope: (column: String, text: String)
        switch stored.index.source {
        case .collection(let path): scope = ("path", path.string)
        case .collectionGroup(let id, _): scope = ("name", id.key.string)
        case .descendants: throw CacheDatabaseError(corruption: "an index has an unknown source")
        }
        let scan = try CacheStatement(
            """
            SELECT document.id, document.name, fields, path FROM document
            CROSS JOIN collection ON collection.id = document.collection AND collection.\(scope.column) = ?1
            WHERE document.id > ?2 AND document.id <= ?3 AND state = 0 ORDER BY document.id LIMIT ?4
            """,
            self
        )
        let end = filled + 20 * Int64(maximumCount)
        scan.bind(scope.text, at: 1)
        scan.bind(filled, at: 2)
        scan.bind(end, at: 3)
        scan.bind(maximumCount, at: 4)
        let insertion = try CacheStatement(IndexMaintainer.insertion, self)
        var (last, count) = (filled, 0)
        try scan.forEachRow { row in
            last = try row.integer(0)
            count += 1
            let path = try CollectionPath(row.text(3)).document(DocumentPath.ID(row.text(1)))
            guard let key = stored.index.key(of: try StoredJSON.fields(row.bytes(2)), at: path) else { return }
            insertion.bind(stored.id, at: 1)
            insertion.bind(bytes: key, at: 2)
            insertion.bind(last, at: 3)
            try insertion.run()
        }
        if count < maximumCount { last = end }
        let update = try CacheStatement(
            """
            UPDATE field_index SET filled = CASE WHEN ?1 >= (SELECT coalesce(max(id), 0) FROM document) THEN NULL ELSE ?1 END
            WHERE id = ?2
            """,
            self
        )
        update.bind(last, at: 1)
        update.bind(stored.id, at: 2)
        try update.run()
    }
}
