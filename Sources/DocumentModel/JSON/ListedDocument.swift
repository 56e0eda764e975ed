/// An entry of a list of documents.
public enum ListedDocument: Hashable, Sendable {
    /// An existing document.
    case document(EncodedDocument)
    /// A missing document: it doesn't exist, but has subcollections.
    case missing(DocumentPath)

    /// The document path.
    public var path: DocumentPath {
        switch self {
        case .document(let document): document.path
        case .missing(let path): path
        }
    }
}
