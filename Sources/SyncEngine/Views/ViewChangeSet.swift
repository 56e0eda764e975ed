internal import DocumentModel

/// The changes of documents in a view, merged to one per document.
struct ViewChangeSet {
    /// The change of a document.
    struct Change {
        var kind: ViewSnapshot.Change.Kind
        var document: LocalDocument
        /// The sort key in the previous result; `nil` if the document was not in it.
        var oldKey: ViewSortKey?
        /// The sort key in the new result; `nil` if the document is not in it.
        var newKey: ViewSortKey?
    }

    private(set) var changes: [DocumentPath: Change] = [:]

    /// Adds a change to those before it.
    mutating func add(_ change: Change) {
        let path = change.document.path
        guard let earlier = changes[path] else {
            changes[path] = change
            return
        }
        var merged = change
        merged.oldKey = earlier.oldKey
        switch (earlier.kind, change.kind) {
        case (.added, .removed):
            changes[path] = nil
            return
        case (.added, .modified), (.added, .metadata), (.modified, .metadata):
            merged.kind = earlier.kind
        case (.modified, .removed):
            merged.document = earlier.document
        case (.removed, .added):
            merged.kind = .modified
        default:
            break
        }
        changes[path] = merged
    }

    /// Adds changes to those before them.
    mutating func add(_ later: ViewChangeSet) {
        for change in later.changes.values { add(change) }
    }

    /// Replaces the kinds of all changes, and removes those whose kind is `nil`.
    mutating func classify(_ kind: (Change) -> ViewSnapshot.Change.Kind?) {
        changes = changes.compactMapValues { change in
            guard let kind = kind(change) else { return nil }
            var change = change
            change.kind = kind
            return change
        }
    }
}

extension ViewChangeSet {
    /// Returns the changes in the order in which listeners replay them: removed, added, then modified ones, each sorted.
    ///
    /// - Parameter oldKeys: The sort keys of the previous result.
    func replayed(over oldKeys: [ViewSortKey], in query: ViewQuery) -> [ViewSnapshot.Change] {
        var groups: [[(key: ViewSortKey, change: Change)]] = [[], [], []]
        for change in changes.values {
            guard let key = change.newKey ?? change.oldKey else { continue }
            groups[change.kind.replayGroup].append((key, change))
        }
        var replay = Replay(oldKeys: oldKeys, query: query)
        return groups.flatMap { group in
            group
                .sorted { query.isReversed ? query.precedes($1.key, $0.key) : query.precedes($0.key, $1.key) }
                .map { replay.apply($0.change) }
        }
    }

    /// The positions of documents while the changes are applied one after the other.
    ///
    /// The previous sort keys are not copied: what was removed and inserted before a position shifts it.
    private struct Replay {
        let oldKeys: [ViewSortKey]
        let query: ViewQuery
        private var removed: [ViewSortKey] = []
        private var inserted: [ViewSortKey] = []

        init(oldKeys: [ViewSortKey], query: ViewQuery) {
            self.oldKeys = oldKeys
            self.query = query
        }

        mutating func apply(_ change: Change) -> ViewSnapshot.Change {
            let oldIndex = change.oldKey.map { remove($0) }
            let newIndex = change.newKey.map { insert($0) }
            return ViewSnapshot.Change(kind: change.kind, document: change.document, oldIndex: oldIndex, newIndex: newIndex)
        }

        private mutating func remove(_ key: ViewSortKey) -> Int {
            let index = shownIndex(of: key)
            removed.insert(key, at: removed.firstIndex(notBefore: key, in: query))
            return index
        }

        private mutating func insert(_ key: ViewSortKey) -> Int {
            inserted.insert(key, at: inserted.firstIndex(notBefore: key, in: query))
            return shownIndex(of: key)
        }

        private func shownIndex(of key: ViewSortKey) -> Int {
            let old = oldKeys.firstIndex(notBefore: key, in: query) - removed.firstIndex(notBefore: key, in: query)
            let index = old + inserted.firstIndex(notBefore: key, in: query)
            let count = oldKeys.count - removed.count + inserted.count
            return query.isReversed ? count - 1 - index : index
        }
    }
}

extension ViewSnapshot.Change.Kind {
    fileprivate var replayGroup: Int {
        switch self {
        case .removed: 0
        case .added: 1
        case .modified, .metadata: 2
        }
    }
}
