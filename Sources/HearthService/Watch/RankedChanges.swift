import DocumentModel
import DocumentStore

/// What a commit does to the result of a query with an order.
struct RankedChanges {
    /// The documents that may have come, left or moved.
    var paths: Set<DocumentPath> = []
    /// What the commit changed.
    private let changes: [DocumentPath: DocumentChange]
    /// Documents of the new result that the commit did not change.
    private var documents: [DocumentPath: EncodedDocument] = [:]

    init(_ changes: [DocumentChange]) {
        self.changes = Dictionary(changes.map { ($0.path, $0) }) { _, last in last }
    }

    /// Takes documents that may be new in the result though the commit did not change them.
    mutating func take(_ documents: [EncodedDocument]) {
        for document in documents { self.documents[document.path] = document }
    }

    /// The changes that lead from one result to the other when they are made one after another, in Firestore's order: what
    /// leaves, what comes, what is changed.
    func told(from old: RankedResult, to new: RankedResult) -> [WatchFrame.Change] {
        var result = old
        var told: [WatchFrame.Change] = []
        for path in sorted(by: old, where: { new.key(of: $0) == nil }) {
            let change = changes[path]
            told.append(
                WatchFrame.Change(change?.leaving ?? .removed, path, before: change?.before, oldIndex: result.remove(path))
            )
        }
        for path in sorted(by: new, where: { old.key(of: $0) == nil }) {
            guard let key = new.key(of: path) else { continue }
            let document = changes[path]?.after ?? documents[path]
            told.append(WatchFrame.Change(.added, path, document, newIndex: result.insert(path, key)))
        }
        for path in sorted(by: new, where: { old.key(of: $0) != nil && changes[$0] != nil }) {
            guard let key = new.key(of: path), let change = changes[path] else { continue }
            let oldIndex = result.remove(path)
            let newIndex = result.insert(path, key)
            told.append(
                WatchFrame.Change(
                    .modified,
                    path,
                    change.after,
                    before: change.before,
                    oldIndex: oldIndex,
                    newIndex: newIndex
                )
            )
        }
        return told
    }

    /// Those of the paths that are in a result and fulfil a condition, in its order.
    private func sorted(by result: RankedResult, where condition: (DocumentPath) -> Bool) -> [DocumentPath] {
        paths.compactMap { path in result.key(of: path).map { (path, $0) } }
            .filter { condition($0.0) }
            .sorted { result.precedes($0.1, $1.1) }
            .map(\.0)
    }
}
