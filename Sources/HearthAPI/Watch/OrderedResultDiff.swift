import DocumentModel
import DocumentStore

/// The difference that a commit makes to the result of an ordered query.
struct OrderedResultDiff {
    /// The documents that may have been added, removed or moved.
    var paths: Set<DocumentPath> = []
    /// The changes of the commit by path.
    private let committed: [DocumentPath: CommittedChange]
    /// Documents in the new result that the commit has not changed.
    private var documents: [DocumentPath: EncodedDocument] = [:]

    init(_ changes: [CommittedChange]) {
        committed = Dictionary(changes.map { ($0.path, $0) }) { _, last in last }
    }

    /// Adds documents that may be new in the result although the commit has not changed them.
    mutating func add(_ documents: [EncodedDocument]) {
        for document in documents { self.documents[document.path] = document }
    }

    /// Returns the changes that transform one result into the other when applied in sequence, in Firestore's order: removals,
    /// additions, modifications.
    func changes(from old: OrderedResult, to new: OrderedResult) -> [OutgoingWatchFrame.Change] {
        var result = old
        var frameChanges: [OutgoingWatchFrame.Change] = []
        for path in sorted(by: old, where: { new.sortKey(of: $0) == nil }) {
            let change = committed[path]
            frameChanges.append(
                OutgoingWatchFrame.Change(
                    change?.removalKind ?? .removed,
                    path,
                    change?.after,
                    before: change?.before,
                    oldIndex: result.remove(path)
                )
            )
        }
        for path in sorted(by: new, where: { old.sortKey(of: $0) == nil }) {
            guard let key = new.sortKey(of: path) else { continue }
            let document = committed[path]?.after ?? documents[path]
            frameChanges.append(OutgoingWatchFrame.Change(.added, path, document, newIndex: result.insert(path, key)))
        }
        for path in sorted(by: new, where: { old.sortKey(of: $0) != nil && committed[$0] != nil }) {
            guard let key = new.sortKey(of: path), let change = committed[path] else { continue }
            let oldIndex = result.remove(path)
            let newIndex = result.insert(path, key)
            frameChanges.append(
                OutgoingWatchFrame.Change(
                    .modified,
                    path,
                    change.after,
                    before: change.before,
                    oldIndex: oldIndex,
                    newIndex: newIndex
                )
            )
        }
        return frameChanges
    }

    /// Returns the paths that are in a result and satisfy a condition, in the order of the result.
    private func sorted(by result: OrderedResult, where condition: (DocumentPath) -> Bool) -> [DocumentPath] {
        paths.compactMap { path in result.sortKey(of: path).map { (path, $0) } }
            .filter { condition($0.0) }
            .sorted { result.precedes($0.1, $1.1) }
            .map(\.0)
    }
}
