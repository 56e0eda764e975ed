import DocumentModel

/// The result of a query as its watcher knows it: its documents' paths in the order of the query.
struct RankedResult: Sendable {
    private struct Entry {
        let path: DocumentPath
        let key: NormalizedQuery.SortKey
    }

    private let watched: WatchedQuery
    /// In the order in which the query finds, which for the last documents is the opposite of the one in which it gives.
    private var entries: [Entry] = []
    private var keys: [DocumentPath: NormalizedQuery.SortKey] = [:]

    /// Makes an empty result.
    init(of watched: WatchedQuery) {
        self.watched = watched
    }

    private var query: NormalizedQuery { watched.query }

    /// How many documents there are.
    var count: Int { entries.count }

    /// The paths of all documents.
    var paths: some Collection<DocumentPath> { keys.keys }

    /// Where a document stands; nil when it is not in the result.
    func key(of path: DocumentPath) -> NormalizedQuery.SortKey? {
        keys[path]
    }

    /// Puts a document into the result that is not in it.
    ///
    /// - Returns: Its index as the query gives the result.
    @discardableResult
    mutating func insert(_ path: DocumentPath, _ key: NormalizedQuery.SortKey) -> Int {
        let index = firstIndex(notBefore: key)
        entries.insert(Entry(path: path, key: key), at: index)
        keys[path] = key
        return given(index)
    }

    /// Takes a document out of the result.
    ///
    /// - Returns: The index that it had as the query gives the result; nil when it was not in it.
    @discardableResult
    mutating func remove(_ path: DocumentPath) -> Int? {
        guard let key = keys.removeValue(forKey: path) else { return nil }
        let index = firstIndex(notBefore: key)
        defer { entries.remove(at: index) }
        return given(index)
    }

    /// Cuts the result to the limit of the query.
    ///
    /// - Returns: What is no longer in it.
    mutating func cut() -> [DocumentPath] {
        guard let limit = query.limit, entries.count > limit else { return [] }
        let paths = entries[limit...].map(\.path)
        for path in paths { keys[path] = nil }
        entries.removeLast(entries.count - limit)
        return paths
    }

    /// Whether a result that was made of this one by changes alone may lack documents, which this one had no room for.
    func mayHaveHidden(from changed: RankedResult) -> Bool {
        if query.offset > 0 { return true }
        guard let limit = query.limit, let last = entries.last, entries.count >= limit else { return false }
        return changed.count < limit || query.compare(changed.entries[limit - 1].key, last.key) == .greater
    }

    /// Whether a key comes before another as the query gives the result.
    func precedes(_ left: NormalizedQuery.SortKey, _ right: NormalizedQuery.SortKey) -> Bool {
        query.compare(left, right) == (query.isReversed ? .greater : .less)
    }

    private func given(_ index: Int) -> Int {
        query.isReversed ? entries.count - 1 - index : index
    }

    /// The index of the first document that doesn't stand before a key.
    private func firstIndex(notBefore key: NormalizedQuery.SortKey) -> Int {
        var (low, high) = (0, entries.count)
        while low < high {
            let middle = (low + high) / 2
            if query.compare(entries[middle].key, key) == .less { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
