package import DocumentModel

/// The state of a view, with the changes since its previous snapshot.
package struct ViewSnapshot: Sendable {
    /// The query.
    package let query: ViewQuery
    /// The documents in the order of the query.
    package let documents: [LocalDocument]
    /// The changes, to be replayed in this order.
    package internal(set) var changes: [Change]
    /// The documents with writes that no stream has delivered yet: queued ones, and acknowledged ones that the view saw being made.
    package let pendingPaths: Set<DocumentPath>
    /// True if the result may not be that of the server.
    package let isFromCache: Bool
    /// True if ``isFromCache`` has changed.
    let isSyncStateChanged: Bool
    /// True if the cache knows an earlier result of the target, even an empty one.
    let hasCachedResult: Bool

    /// True if a document of the result has pending writes.
    package var hasPendingWrites: Bool { !pendingPaths.isEmpty }

    /// A change of a document in a view.
    package struct Change: Sendable {
        /// The kind.
        package let kind: Kind
        /// The document; the previous one if it was removed.
        package let document: LocalDocument
        /// The index before this change, after the changes that precede it; `nil` if the document was added.
        package let oldIndex: Int?
        /// The index after this change; `nil` if the document was removed.
        package let newIndex: Int?

        /// The kinds of change.
        package enum Kind: Hashable, Sendable {
            /// The document entered the result.
            case added
            /// The data changed.
            case modified
            /// The document has pending writes, or has none any more.
            case metadata
            /// The document left the result.
            case removed
        }
    }

    /// The snapshot for a listener that sees the view for the first time.
    var initial: ViewSnapshot {
        var snapshot = self
        snapshot.changes = documents.enumerated().map { Change(addedAt: $0, $1) }
        return snapshot
    }

    /// The snapshot without changes that are about pending writes only.
    var withoutMetadataChanges: ViewSnapshot {
        var snapshot = self
        snapshot.changes.removeAll { $0.kind == .metadata }
        return snapshot
    }
}

extension ViewSnapshot.Change {
    /// Creates the change of a document that is added to the end of a result.
    init(addedAt index: Int, _ document: LocalDocument) {
        self.init(kind: .added, document: document, oldIndex: nil, newIndex: index)
    }
}
