package import DocumentModel
import StrictJSON

/// What a watcher watches.
package enum WatchTarget: Hashable, Sendable {
    /// One document, whether it exists or not.
    case document(DocumentPath)
    /// The documents directly in a collection; not those of subcollections.
    case collection(CollectionPath)
    /// The result of a query.
    case query(WatchedQuery)

    /// Whether a document may belong to the target, by its path.
    package func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .document(let document): path == document
        case .collection(let collection): path.collection == collection
        case .query(let watched): watched.query.source.contains(path)
        }
    }

    /// Makes sure that a caller may watch it.
    func check(for caller: Caller) throws(StatusError) {
        switch self {
        case .document(let path): try caller.check(path)
        case .collection(let path): try caller.check(path)
        case .query(let watched): try caller.check(watched.query.source)
        }
    }

    /// A text that no other target has.
    var canonicalText: String {
        switch self {
        case .document(let path): "document=" + path.string
        case .collection(let path): "collection=" + path.string
        case .query(let watched): watched.canonicalText.string
        }
    }
}
