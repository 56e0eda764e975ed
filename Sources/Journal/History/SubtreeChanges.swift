package import DocumentModel
internal import DocumentStore
package import UTF8Text

/// The documents in a subtree that were created, changed or deleted since a time.
package struct SubtreeChanges: Sendable {
    /// The documents that existed at the time and were changed or deleted since.
    private(set) var existed: Set<DocumentPath> = []
    /// The documents that did not exist at the time and were created since, including those deleted again.
    package private(set) var created: Set<DocumentPath> = []

    /// Returns the path segments at a depth that have documents in ``existed`` below them.
    package func idsWithFormerDescendants(at depth: Int) -> Set<UTF8Key> {
        Set(existed.lazy.map(\.segments).filter { $0.count > depth + 1 }.map { $0[depth] })
    }

    /// Adds the first change to a document.
    mutating func insert(_ path: DocumentPath, existed isFormer: Bool) {
        if isFormer { existed.insert(path) } else { created.insert(path) }
    }

    fileprivate mutating func insertFirst(_ change: CommittedChange) {
        guard !existed.contains(change.path), !created.contains(change.path) else { return }
        insert(change.path, existed: change.existedBefore)
    }

    fileprivate var count: Int { existed.count + created.count }
}

extension PointInTimeView {
    /// The maximum number of documents in ``SubtreeChanges``.
    private static let maximumSubtreeChanges = 100_000

    /// Returns the changes since the time below a collection or document, given by its path segments; without segments, the
    /// changes to all documents.
    ///
    /// - Throws: `.resourceExhausted` when too many documents have changed.
    package func changes(below segments: [UTF8Key]) throws(StatusError) -> SubtreeChanges {
        if let changes = try subtrees.changes(below: segments, in: self) { return changes }
        let prefix = segments.flatMap { Array($0.utf8) + [UInt8(ascii: "/")] }
        var changes = SubtreeChanges()
        try forEachCommit(after: time) { commit, _, _ throws(StatusError) in
            for change in commit.changes where change.path.string.utf8.starts(with: prefix) { changes.insertFirst(change) }
            guard changes.count <= Self.maximumSubtreeChanges else {
                throw StatusError(
                    .resourceExhausted,
                    "More than \(Self.maximumSubtreeChanges) documents have been created or changed since the read time. Use a later "
                        + "read time.",
                    path: segments.isEmpty ? nil : segments.map(\.string).joined(separator: "/")
                )
            }
            return true
        }
        return changes
    }
}
