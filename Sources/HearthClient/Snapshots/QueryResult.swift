internal import DocumentModel
internal import Foundation

/// The documents of a query in its order, and what becomes of them.
struct QueryResult {
    /// The documents that can't be read, or have no place in the order.
    private(set) var damaged: [Damage] = []
    private let firestore: Firestore
    private let query: NormalizedQuery
    private var entries: [Entry] = []
    private var keys: [DocumentPath: NormalizedQuery.SortKey] = [:]

    /// A document and where it stands.
    private struct Entry {
        let document: QueryDocumentSnapshot
        let key: NormalizedQuery.SortKey
    }

    struct Damage: Equatable {
        let error: StatusError

        static func == (left: Damage, right: Damage) -> Bool {
            left.error.path == right.error.path && left.error.message == right.error.message
        }
    }

    init(of query: NormalizedQuery, in firestore: Firestore) {
        self.query = query
        self.firestore = firestore
    }

    /// The documents in the query's order.
    var documents: [QueryDocumentSnapshot] { entries.map(\.document) }

    /// Takes what a stream has said.
    ///
    /// - Returns: What has changed, in Firestore's order: removed, added, modified, each in the order of the query. The indices
    ///   are those at which one change after the other is to be made. What is as it was is no change.
    mutating func apply(_ update: WatchedState.Update) -> [DocumentChange] {
        switch update {
        case .everything(let documents, let damaged):
            var changes: [DocumentPath: Document?] = documents.mapValues(Optional.some)
            for path in keys.keys where documents[path] == nil { changes[path] = .some(nil) }
            return apply(changes, damaged: damaged)
        case .changes(let changes, let damaged):
            return apply(changes, damaged: damaged)
        }
    }

    /// Takes documents as they are now, nil for those that are not in the result any more.
    private mutating func apply(_ changes: [DocumentPath: Document?], damaged: [StatusError]) -> [DocumentChange] {
        var misplaced: [StatusError] = []
        var removed: [Entry] = []
        var added: [Entry] = []
        var modified: [Entry] = []
        for (path, document) in changes {
            let old = keys[path].map { entries[index(of: $0)] }
            let new = document.flatMap { document -> Entry? in
                if let entry = entry(of: document) { return entry }
                misplaced.append(.misplaced(path))
                return nil
            }
            switch (old, new) {
            case (nil, nil): break
            case (let old?, nil): removed.append(old)
            case (nil, let new?): added.append(new)
            case (let old?, let new?): if old.document != new.document { modified.append(new) }
            }
        }
        self.damaged = (damaged + misplaced).map(Damage.init)
        return removed.sorted(by: precedes).map { remove($0) }
            + added.sorted(by: precedes).map { add($0) }
            + modified.sorted(by: precedes).map { modify($0) }
    }
}

// One change after the other.
extension QueryResult {
    private mutating func remove(_ entry: Entry) -> DocumentChange {
        let index = take(entry)
        return DocumentChange(type: .removed, document: entry.document, oldIndex: UInt(index), newIndex: UInt(NSNotFound))
    }

    private mutating func add(_ entry: Entry) -> DocumentChange {
        let index = put(entry)
        return DocumentChange(type: .added, document: entry.document, oldIndex: UInt(NSNotFound), newIndex: UInt(index))
    }

    private mutating func modify(_ entry: Entry) -> DocumentChange {
        let oldIndex = take(entry)
        let newIndex = put(entry)
        return DocumentChange(type: .modified, document: entry.document, oldIndex: UInt(oldIndex), newIndex: UInt(newIndex))
    }

    /// Takes the document out that is at an entry's path, which is there.
    private mutating func take(_ entry: Entry) -> Int {
        let index = index(of: keys.removeValue(forKey: entry.document.reference.documentPath) ?? entry.key)
        entries.remove(at: index)
        return index
    }

    private mutating func put(_ entry: Entry) -> Int {
        keys[entry.document.reference.documentPath] = entry.key
        // What comes in order is added at the end.
        let isLast = entries.last.map { precedes($0, entry) } ?? true
        let index = isLast ? entries.count : index(of: entry.key)
        entries.insert(entry, at: index)
        return index
    }
}

// The order.
extension QueryResult {
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

    /// Where the document with a key is, or would be inserted. No two keys are equal, since each has the document's path.
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
    /// The server says that a document is in a result, and this library that it can't be.
    fileprivate static func misplaced(_ path: DocumentPath) -> StatusError {
        StatusError(
            .internal,
            "The document lacks what the query sorts by; is the server of another version?",
            path: path.string
        )
    }
}

extension [DocumentChange] {
    /// The changes that make a first result.
    static func added(_ documents: [QueryDocumentSnapshot]) -> [DocumentChange] {
        documents.enumerated().map { index, document in
            DocumentChange(type: .added, document: document, oldIndex: UInt(NSNotFound), newIndex: UInt(index))
        }
    }
}
