package import DocumentModel
internal import GRDB
package import SyncEngine
internal import UTF8Text

extension PersistentCache {
    /// Returns a cached target.
    package func target(_ target: SyncTarget) throws(StatusError) -> CachedTarget? {
        try cache.read { database in
            let lookup = try CacheStatement(
                "SELECT id, token, snapshotTime, syncedChange, lastUse FROM target WHERE target = ?",
                database
            )
            lookup.bind(text: StoredJSON.encode(target), at: 1)
            return try lookup.firstRow { row in
                CachedTarget(
                    id: try row.number(0),
                    target: target,
                    token: try row.optionalText(1),
                    snapshotTime: try row.optionalTime(2),
                    syncedChange: try row.optionalInteger(3).map { ChangeNumber(clamping: $0) },
                    lastUse: try row.number(4)
                )
            }
        }
    }

    /// Adds a target.
    package mutating func addTarget(_ target: SyncTarget) throws(StatusError) -> CachedTarget {
        let use = try nextUse()
        return try write(to: cache) { database in
            let id = try database.cacheState("lastTarget") + 1
            try database.setCacheState("lastTarget", to: id)
            let insertion = try CacheStatement("INSERT INTO target (id, target, lastUse) VALUES (?, ?, ?)", database)
            insertion.bind(id, at: 1)
            insertion.bind(text: StoredJSON.encode(target), at: 2)
            insertion.bind(use, at: 3)
            try insertion.run()
            return CachedTarget(id: id, target: target, lastUse: use)
        }
    }

    /// Saves the state of a target.
    package mutating func save(_ target: CachedTarget) throws(StatusError) {
        try write(to: cache) { database in
            let update = try CacheStatement(
                "UPDATE target SET token = ?, snapshotTime = ?, syncedChange = ?, lastUse = ? WHERE id = ?",
                database
            )
            update.bind(target.token, at: 1)
            update.bind(target.snapshotTime, at: 2)
            update.bind(target.syncedChange.map { Int64(clamping: $0) }, at: 3)
            update.bind(target.lastUse, at: 4)
            update.bind(target.id, at: 5)
            try update.run()
        }
    }

    /// Removes a target and its keys.
    package mutating func removeTarget(_ id: TargetID) throws(StatusError) {
        try updateKeys(of: id, adding: [], removing: keys(of: id))
        try write(to: cache) { database in
            let deletion = try CacheStatement("DELETE FROM target WHERE id = ?", database)
            deletion.bind(id, at: 1)
            try deletion.run()
        }
    }

    /// Returns the documents of a target.
    package func keys(of id: TargetID) throws(StatusError) -> Set<DocumentPath> {
        try cache.read { database in
            let scan = try CacheStatement(
                """
                SELECT collection, target_document.name, path FROM target_document JOIN collection ON collection.id = collection
                WHERE target = ? ORDER BY collection, target_document.name
                """,
                database
            )
            scan.bind(id, at: 1)
            var keys: Set<DocumentPath> = []
            var current: (id: Int64, path: CollectionPath)?
            try scan.forEachRow { row in
                let collection = try row.integer(0)
                if current?.id != collection { current = (collection, try CollectionPath(row.text(2))) }
                if let path = current?.path { keys.insert(path.document(try DocumentPath.ID(row.text(1)))) }
            }
            return keys
        }
    }

    /// Adds documents to a target, and removes others.
    package mutating func updateKeys(
        of id: TargetID,
        adding added: Set<DocumentPath>,
        removing removed: Set<DocumentPath>
    ) throws(StatusError) {
        guard !added.isEmpty || !removed.isEmpty else { return }
        try write(to: cache) { database in
            var collections = CollectionLookup(database)
            let count = try CacheStatement(
                "UPDATE document SET targets = targets + ? WHERE collection = ? AND name = ?",
                database
            )
            // Runs a change of the row of a key, and counts the target at its document.
            func change(
                _ statement: CacheStatement,
                _ collection: CollectionLookup.Collection,
                _ name: String,
                by difference: Int64
            ) throws {
                statement.bind(id, at: 1)
                statement.bind(collection.id, at: 2)
                statement.bind(name, at: 3)
                try statement.run()
                guard collection.mayHaveDocuments, database.changedRowCount == 1 else { return }
                count.bind(difference, at: 1)
                count.bind(collection.id, at: 2)
                count.bind(name, at: 3)
                try count.run()
            }
            if !removed.isEmpty {
                let deletion = try CacheStatement(
                    "DELETE FROM target_document WHERE target = ? AND collection = ? AND name = ?",
                    database
                )
                var touched: Set<Int64> = []
                for path in removed {
                    guard let collection = try collections.collection(at: path.collection) else { continue }
                    try change(deletion, collection, path.id.key.string, by: -1)
                    touched.insert(collection.id)
                }
                for path in added {
                    if let collection = try collections.id(of: path.collection) { touched.remove(collection) }
                }
                try database.removeEmptyCollections(touched)
            }
            let insertion = try CacheStatement("INSERT OR IGNORE INTO target_document VALUES (?, ?, ?)", database)
            for path in added.inKeyOrder {
                try change(insertion, collections.addedCollection(at: path.collection), path.id.key.string, by: 1)
            }
        }
    }
}

extension Set<DocumentPath> {
    /// The documents by collection and name, as the rows of keys are sorted: rows that are added in this order fill their pages.
    fileprivate var inKeyOrder: [DocumentPath] {
        guard count > 1 else { return Array(self) }
        return sorted { left, right in
            left.collection == right.collection ? left.id.key < right.id.key : left.collection.string < right.collection.string
        }
    }
}
