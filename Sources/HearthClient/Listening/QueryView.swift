internal import DocumentModel
internal import Foundation

/// The sorted result of a query, maintained incrementally from watch updates.
struct QueryView {
    /// The documents that cannot be read or sorted.
    private(set) var damaged: [DamagedDocument] = []
    private let firestore: Firestore
    private let query: NormalizedQuery
    private var entries: [Entry] = []
    private var keys: [DocumentPath: NormalizedQuery.SortKey] = [:]

    /// A document with its sort key.
    private struct Entry {
        let document: QueryDocumentSnapshot
        let key: NormalizedQuery.SortKey
    }

    struct DamagedDocument: Equatable {
        let error: StatusError

        static func == (left: DamagedDocument, right: DamagedDocument) -> Bool {
            left.error.path == right.error.path && left.error.message == right.error.message
        }
    }

    init(of query: NormalizedQuery, in firestore: Firestore) {
        self.query = query
        self.firestore = firestore
    }

    /// The documents in the query's order.
    var documents: [QueryDocumentSnapshot] { entries.map(\.document) }

    /// Applies a watch update.
    ///
    /// - Returns: The changes in Firestore's order: removed, added, modified, each in query order. The indexes are relative to the
    ///   result after all preceding changes. Unchanged documents are omitted.
    mutating func apply(_ update: WatchChangeAggregator.Update) -> [DocumentChange] {
        switch update {
        case .snapshot(let documents, let damaged):
            var changes: [DocumentPath: Document?] = documents.mapValues(Optional.some)
            for path in keys.keys where documents[path] == nil { changes[path] = .some(nil) }
            return apply(changes, damaged: damaged)
        case .changes(let changes, let damaged):
            return apply(changes, damaged: damaged)
        }
    }

    /// Applies changed documents; `nil` for those that are no longer in the result.
    private mutating func apply(_ changes: [DocumentPath: Document?], damaged: [StatusError]) -> [DocumentChange] {
        var unsortable: [StatusError] = []
        var removed: [Entry] = []
        var added: [Entry] = []
        var modified: [Entry] = []
        for (path, document) in changes {
            let old = keys[path].map { entries[index(of: $0)] }
            let new = document.flatMap { document -> Entry? in
                if let entry = entry(of: document) { return entry }
                unsortable.append(.unsortable(path))
                return nil
            }
            switch (old, new) {
            case (nil, nil): break
            case (let old?, nil): removed.append(old)
            case (nil, let new?): added.append(new)
            case (let old?, let new?): if old.document != new.document { modified.append(new) }
            }
        }
        self.damaged = (damaged + unsortable).map(DamagedDocument.init)
        return removed.sorted(by: precedes).map { remove($0) }
            + added.sorted(by: precedes).map { add($0) }
            + modified.sorted(by: precedes).map { modify($0) }
    }
}

// Single changes.
extension QueryView {
    private mutating func remove(_ entry: Entry) -> DocumentChange {
        let index = removeEntry(entry)
        return DocumentChange(type: .removed, document: entry.document, oldIndex: UInt(index), newIndex: UInt(NSNotFound))
    }

    private mutating func add(_ entry: Entry) -> DocumentChange {
        let index = insertEntry(entry)
        return DocumentChange(type: .added, document: entry.document, oldIndex: UInt(NSNotFound), newIndex: UInt(index))
    }

    private mutating func modify(_ entry: Entry) -> DocumentChange {
        let oldIndex = removeEntry(entry)
        let newIndex = insertEntry(entry)
        return DocumentChange(type: .modified, document: entry.document, oldIndex: UInt(oldIndex), newIndex: UInt(newIndex))
    }

    /// Removes the existing entry with the path of `entry` and returns its index.
    private mutating func removeEntry(_ entry: Entry) -> Int {
        let index = index(of: keys.removeValue(forKey: entry.document.reference.documentPath) ?? entry.key)
        entries.remove(at: index)
        return index
    }

    private mutating func insertEntry(_ entry: Entry) -> Int {
        keys[entry.document.reference.documentPath] = entry.key
        // The fast path for documents that arrive in order.
        let isLast = entries.last.map { precedes($0, entry) } ?? true
        let index = isLast ? entries.count : index(of: entry.key)
        entries.insert(entry, at: index)
        return index
    }
}

// Sort order.
extension QueryView {
    private func entry(of document: Document) -> Entry? {
        guard let key = query.sortKey(of: document.fields, at: document.path) else { return nil }
        return Entry(document: QueryDocumentSnapshot(document, in: firestore), key: key)
    }

    private func precedes(_ left: Entry, _ right: Entry) -> Bool {
        precedes(left.key, right.key)
    }

    private func precedes(_ left: NormalizedQuery.SortKey, _ right: NormalizedQuery.SortKey) -> Bool {
        query.compare(left, right) == (query.isReversed ? .greater : .less)
    }

    /// Returns the index of a key, or its insertion index. Keys are unique, since they include the document path.
    private func index(of key: NormalizedQuery.SortKey) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            if precedes(entries[middle].key, key) { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension StatusError {
    /// Returns the error for a document in a result that lacks the fields of the sort order.
    fileprivate static func unsortable(_ path: DocumentPath) -> StatusError {
        StatusError(
            .internal,
            "The document lacks the fields that the query sorts by. The server may have an incompatible version.",
            path: path.string
        )
    }
}
