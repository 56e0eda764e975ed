import DocumentModel

/// The result of an ordered query as sent to the watcher: document paths and sort keys in query order.
struct OrderedResult: Sendable {
    private struct Entry {
        let path: DocumentPath
        let key: NormalizedQuery.SortKey
    }

    private let watched: PreparedWatchQuery
    /// The entries in the order of execution, which for `limitToLast` is the reverse of the order of the result.
    private var entries: [Entry] = []
    private var keys: [DocumentPath: NormalizedQuery.SortKey] = [:]

    /// Creates an empty result.
    init(of watched: PreparedWatchQuery) {
        self.watched = watched
    }

    private var query: NormalizedQuery { watched.query }

    /// The number of documents.
    var count: Int { entries.count }

    /// The paths of the documents.
    var paths: some Collection<DocumentPath> { keys.keys }

    /// Returns the sort key of a document, or `nil` if it is not in the result.
    func sortKey(of path: DocumentPath) -> NormalizedQuery.SortKey? {
        keys[path]
    }

    /// Inserts a document that is not in the result.
    ///
    /// - Returns: Its index in the result.
    @discardableResult
    mutating func insert(_ path: DocumentPath, _ key: NormalizedQuery.SortKey) -> Int {
        let index = firstIndex(notBefore: key)
        entries.insert(Entry(path: path, key: key), at: index)
        keys[path] = key
        return resultIndex(index)
    }

    /// Removes a document.
    ///
    /// - Returns: Its previous index in the result, or `nil` if it was not in the result.
    @discardableResult
    mutating func remove(_ path: DocumentPath) -> Int? {
        guard let key = keys.removeValue(forKey: path) else { return nil }
        let index = firstIndex(notBefore: key)
        defer { entries.remove(at: index) }
        return resultIndex(index)
    }

    /// Truncates the result to the limit of the query.
    ///
    /// - Returns: The removed documents.
    mutating func truncate() -> [DocumentPath] {
        guard let limit = query.limit, entries.count > limit else { return [] }
        let paths = entries[limit...].map(\.path)
        for path in paths { keys[path] = nil }
        entries.removeLast(entries.count - limit)
        return paths
    }

    /// Returns whether a result that was derived from this one by changes alone may lack documents that were beyond the limit of
    /// this one.
    func mayLackDocuments(after changed: OrderedResult) -> Bool {
        if query.offset > 0 { return true }
        guard let limit = query.limit, let last = entries.last, entries.count >= limit else { return false }
        return changed.count < limit || query.compare(changed.entries[limit - 1].key, last.key) == .greater
    }

    /// Returns whether a sort key precedes another one in the order of the result.
    func precedes(_ left: NormalizedQuery.SortKey, _ right: NormalizedQuery.SortKey) -> Bool {
        query.compare(left, right) == (query.isReversed ? .greater : .less)
    }

    private func resultIndex(_ index: Int) -> Int {
        query.isReversed ? entries.count - 1 - index : index
    }

    /// Returns the index of the first entry that does not precede a key.
    private func firstIndex(notBefore key: NormalizedQuery.SortKey) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if query.compare(entries[middle].key, key) == .less { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
