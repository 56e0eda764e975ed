internal import DocumentModel
internal import Foundation

/// The documents of a query in its order, and what becomes of them.
struct QueryResult {
    private(set) var documents: [QueryDocumentSnapshot] = []
    /// The documents that can't be read, by path.
    private(set) var damaged: [Damage] = []
    private let firestore: Firestore

    struct Damage: Equatable {
        let error: StatusError

        static func == (left: Damage, right: Damage) -> Bool {
            left.error.path == right.error.path && left.error.message == right.error.message
        }
    }

    init(_ firestore: Firestore) {
        self.firestore = firestore
    }

    /// Takes documents as they are now, nil for those that are not in the result any more.
    ///
    /// - Returns: What has changed, in Firestore's order: removed, added, modified, each in the order of the query. The indices
    ///   are those at which one change after the other is to be made. What is as it was is no change.
    mutating func apply(_ changes: [DocumentPath: Document?]) -> [DocumentChange] {
        var removed: [QueryDocumentSnapshot] = []
        var added: [Document] = []
        var modified: [Document] = []
        for (path, new) in changes {
            let place = place(of: path)
            switch (place.isFound ? documents[place.index] : nil, new) {
            case (nil, nil): break
            case (let old?, nil): removed.append(old)
            case (nil, let new?): added.append(new)
            case (let old?, let new?): if old.document != new { modified.append(new) }
            }
        }
        return removed.sorted { $0.reference.documentPath < $1.reference.documentPath }.map { remove($0) }
            + added.sorted { $0.path < $1.path }.map { add($0) }
            + modified.sorted { $0.path < $1.path }.map { modify($0) }
    }

    /// Takes what a stream has said.
    mutating func apply(_ update: WatchedState.Update) -> [DocumentChange] {
        switch update {
        case .everything(let documents, let damaged):
            self.damaged = damaged.map(Damage.init)
            var changes: [DocumentPath: Document?] = documents.mapValues(Optional.some)
            for shown in self.documents where documents[shown.reference.documentPath] == nil {
                changes[shown.reference.documentPath] = .some(nil)
            }
            return apply(changes)
        case .changes(let changes, let damaged):
            self.damaged = damaged.map(Damage.init)
            return apply(changes)
        }
    }

    private mutating func remove(_ document: QueryDocumentSnapshot) -> DocumentChange {
        let index = place(of: document.reference.documentPath).index
        documents.remove(at: index)
        return DocumentChange(type: .removed, document: document, oldIndex: UInt(index), newIndex: UInt(NSNotFound))
    }

    private mutating func add(_ document: Document) -> DocumentChange {
        let index = place(of: document.path).index
        let snapshot = QueryDocumentSnapshot(document, in: firestore)
        documents.insert(snapshot, at: index)
        return DocumentChange(type: .added, document: snapshot, oldIndex: UInt(NSNotFound), newIndex: UInt(index))
    }

    private mutating func modify(_ document: Document) -> DocumentChange {
        let index = place(of: document.path).index
        let snapshot = QueryDocumentSnapshot(document, in: firestore)
        documents[index] = snapshot
        return DocumentChange(type: .modified, document: snapshot, oldIndex: UInt(index), newIndex: UInt(index))
    }

    /// Where a document is, or would be inserted.
    private func place(of path: DocumentPath) -> (index: Int, isFound: Bool) {
        // What comes in order is added at the end.
        guard let last = documents.last, path <= last.reference.documentPath else { return (documents.count, false) }
        var low = 0
        var high = documents.count
        while low < high {
            let middle = (low + high) / 2
            if documents[middle].reference.documentPath < path { low = middle + 1 } else { high = middle }
        }
        return (low, low < documents.count && documents[low].reference.documentPath == path)
    }
}
