package import DocumentModel
internal import GRDB
package import SyncEngine
internal import UTF8Text

extension PersistentCache {
    /// Returns the next number of a use.
    package mutating func nextUse() throws(StatusError) -> UseNumber {
        try write(to: cache) { database in
            let use = try database.cacheState("lastUse") + 1
            try database.setCacheState("lastUse", to: use)
            return use
        }
    }

    /// The approximate size of the documents in bytes.
    package var byteCount: Int {
        get throws(StatusError) {
            try cache.read { Int(clamping: try $0.cacheState("bytes")) }
        }
    }

    /// Records the last use of documents.
    package mutating func touch(_ paths: Set<DocumentPath>, use: UseNumber) throws(StatusError) {
        guard !paths.isEmpty else { return }
        try write(to: cache) { database in
            var collections = CollectionLookup(database)
            let update = try CacheStatement("UPDATE document SET lastUse = ? WHERE collection = ? AND name = ?", database)
            for path in paths {
                guard let collection = try collections.id(of: path.collection) else { continue }
                update.bind(use, at: 1)
                update.bind(collection, at: 2)
                update.bind(path.id.key.string, at: 3)
                try update.run()
            }
        }
    }

    /// Returns those of the documents that are in no target and in no queue.
    package func unreferenced(_ paths: Set<DocumentPath>) throws(StatusError) -> Set<DocumentPath> {
        let targetless = try cache.read { database in
            var collections = CollectionLookup(database)
            let lookup = try CacheStatement("SELECT 1 FROM target_document WHERE collection = ? AND name = ? LIMIT 1", database)
            return try paths.filter { path in
                guard let collection = try collections.id(of: path.collection) else { return true }
                lookup.bind(collection, at: 1)
                lookup.bind(path.id.key.string, at: 2)
                return try lookup.firstRow { _ in true } == nil
            }
        }
        return try unqueued(targetless)
    }

    /// Returns those of the documents that are in no queue.
    private func unqueued(_ paths: Set<DocumentPath>) throws(StatusError) -> Set<DocumentPath> {
        guard !paths.isEmpty else { return [] }
        return try queue.read { database in
            let lookup = try CacheStatement("SELECT 1 FROM batch_document WHERE path = ? LIMIT 1", database)
            return try paths.filter { path in
                lookup.bind(path.string, at: 1)
                return try lookup.firstRow { _ in true } == nil
            }
        }
    }

    /// Returns the use number up to which the given part of the targets and unreferenced documents was last used.
    ///
    /// It counts the entries of an index, and reads as many uses as it returns, and a document for each queued path.
    package func useNumber(atFraction fraction: Double, maximumCount: Int) throws(StatusError) -> UseNumber? {
        let queued = try queue.read { database in
            var paths: Set<DocumentPath> = []
            let scan = try CacheStatement("SELECT DISTINCT path FROM batch_document", database)
            try scan.forEachRow { paths.insert(try DocumentPath($0.text(0))) }
            return paths
        }
        return try cache.read { database in
            let queuedUses = try database.targetlessUses(of: queued)
            let total = try CacheStatement(
                "SELECT (SELECT count(*) FROM target) + (SELECT count(*) FROM document WHERE targets = 0)",
                database
            ).firstRow { Int(clamping: try $0.integer(0)) }
            let count = min(Int(Double((total ?? 0) - queuedUses.count) * fraction), maximumCount)
            guard count > 0 else { return nil }
            return try database.use(at: count, excluding: queuedUses)
        }
    }

    /// Returns the IDs of the targets that were last used at or before a use.
    package func targets(usedThrough use: UseNumber) throws(StatusError) -> [TargetID] {
        try cache.read { database in
            let scan = try CacheStatement("SELECT id FROM target WHERE lastUse <= ?", database)
            scan.bind(use, at: 1)
            var ids: [TargetID] = []
            try scan.forEachRow { ids.append(try $0.number(0)) }
            return ids
        }
    }

    /// Returns the unreferenced documents that were last used at or before a use.
    package func unreferencedDocuments(usedThrough use: UseNumber) throws(StatusError) -> Set<DocumentPath> {
        let targetless = try cache.read { database in
            let scan = try CacheStatement(
                """
                SELECT path, document.name FROM document JOIN collection ON collection.id = collection
                WHERE targets = 0 AND lastUse <= ?
                """,
                database
            )
            scan.bind(use, at: 1)
            var paths: Set<DocumentPath> = []
            try scan.forEachRow { row in
                paths.insert(DocumentPath(collection: try CollectionPath(row.text(0)), id: try DocumentPath.ID(row.text(1))))
            }
            return paths
        }
        return try unqueued(targetless)
    }
}

extension Database {
    /// Returns the last uses of those documents that are cached and in no target.
    fileprivate func targetlessUses(of paths: Set<DocumentPath>) throws -> [UseNumber] {
        var collections = CollectionLookup(self)
        let lookup = try CacheStatement(
            "SELECT lastUse FROM document WHERE collection = ? AND name = ? AND targets = 0",
            self
        )
        return try paths.compactMap { path in
            guard let collection = try collections.id(of: path.collection) else { return nil }
            lookup.bind(collection, at: 1)
            lookup.bind(path.id.key.string, at: 2)
            return try lookup.firstRow { try $0.number(0) }
        }
    }

    /// Returns the use at a position, counted from 1, among those of targets and documents without targets, but for some documents.
    fileprivate func use(at position: Int, excluding excluded: [UseNumber]) throws -> UseNumber? {
        var excludedCounts: [UseNumber: Int] = [:]
        for use in excluded { excludedCounts[use, default: 0] += 1 }
        let scan = try CacheStatement(
            """
            SELECT lastUse FROM (SELECT lastUse FROM target UNION ALL SELECT lastUse FROM document WHERE targets = 0)
            ORDER BY lastUse LIMIT ?
            """,
            self
        )
        scan.bind(position + excluded.count, at: 1)
        var (result, remaining) = (nil as UseNumber?, position)
        try scan.forEachRow { row in
            let use = try row.number(0)
            if let count = excludedCounts[use], count > 0 {
                excludedCounts[use] = count - 1
            } else if remaining > 0 {
                remaining -= 1
                result = use
            }
        }
        return result
    }
}
