package import DocumentModel

/// What a watcher watches.
package enum WatchTarget: Hashable, Sendable {
    /// One document, whether it exists or not.
    case document(DocumentPath)
    /// The documents directly in a collection; not those of subcollections.
    case collection(CollectionPath)

    /// Whether a document belongs to the target.
    package func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .document(let document): path == document
        case .collection(let collection): path.collection == collection
        }
    }

    /// Makes sure that a caller may watch it.
    func check(for caller: Caller) throws(StatusError) {
        switch self {
        case .document(let path): try caller.check(path)
        case .collection(let path): try caller.check(path)
        }
    }

    /// A text that no other target has.
    var canonicalText: String {
        switch self {
        case .document(let path): "document=" + path.string
        case .collection(let path): "collection=" + path.string
        }
    }
}
