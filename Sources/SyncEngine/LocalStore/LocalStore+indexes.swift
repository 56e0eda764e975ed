internal import DocumentModel

extension LocalStore {
    /// Reads whether indexes are incomplete.
    mutating func readIndexState() throws(StatusError) {
        hasIncompleteIndexes = try transaction { (cache: inout Cache) throws(StatusError) in try cache.hasIncompleteIndexes }
    }

    /// Adds indexes without entries.
    mutating func addIndexes(_ indexes: Set<FieldIndex>) throws(StatusError) {
        try transaction { (cache: inout Cache) throws(StatusError) in try cache.addIndexes(indexes) }
        try readIndexState()
    }

    /// Adds some entries to an incomplete index, or deletes some of a removed one.
    ///
    /// - Parameter maximumCount: The maximum number of documents.
    /// - Throws: The error of the cache. The index stays incomplete until the next start, or until another one is added.
    mutating func fillIndexes(maximumCount: Int) throws(StatusError) {
        hasIncompleteIndexes = false
        hasIncompleteIndexes = try transaction { (cache: inout Cache) throws(StatusError) in
            try cache.fillIndexes(maximumCount: maximumCount)
        }
    }

    /// Removes all indexes.
    mutating func removeIndexes() throws(StatusError) {
        try transaction { (cache: inout Cache) throws(StatusError) in try cache.removeIndexes() }
        try readIndexState()
    }

    /// Returns whether a scan that read some documents is worth an index.
    func isWorthIndex(_ query: ViewQuery, scannedCount: Int, matchCount: Int) -> Bool {
        createsIndexes && scannedCount >= 100 && scannedCount > 2 * min(matchCount, query.targetLimit ?? .max)
    }
}

extension LocalCache {
    /// Returns the documents that match a query, and of those beyond the limit not all; `nil` if an index is absent or incomplete.
    func documents(
        matching query: ViewQuery,
        by scans: [IndexScan],
        for user: UserID
    ) throws(StatusError) -> [DocumentPath: LocalDocument?]? {
        guard case .query(let target) = query.target else { return nil }
        let indexes = Set(scans.map(\.index))
        for index in indexes where try !isComplete(index) { return nil }
        let overlays = try overlays(in: target.source, for: user)
        var matches: [DocumentPath: LocalDocument?] = [:]
        func add(_ remote: RemoteDocument) -> Bool {
            let document = OverlaidDocument(remote, at: remote.path).document
            guard let document, query.match(document) != nil else { return false }
            matches[remote.path] = document
            return true
        }
        for scan in scans {
            var count = 0
            guard query.targetLimit != 0 else { break }
            try visitDocuments(in: scan) { (remote) throws(StatusError) in
                // The index does not know what local writes do.
                if overlays[remote.path] == nil, add(remote) { count += 1 }
                return count < query.targetLimit ?? .max
            }
        }
        for index in indexes {
            try visitDocuments(in: index.unorderedScan) { (remote) throws(StatusError) in
                if overlays[remote.path] == nil { _ = add(remote) }
                return true
            }
        }
        for (path, document) in try localDocuments(at: Set(overlays.keys), for: user) {
            if let document, query.match(document) != nil { matches[path] = document }
        }
        return matches
    }
}
