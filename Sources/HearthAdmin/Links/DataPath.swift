import DocumentModel
import StrictJSON

/// A path of the database: of a collection, or of a document.
enum DataPath: Sendable {
    case collection(CollectionPath)
    case document(DocumentPath)

    /// Takes the IDs in turn.
    ///
    /// - Throws: `invalidArgument` when one breaks a rule, one with a slash among them.
    init(_ segments: [UTF8Key]) throws(StatusError) {
        let path = segments.map(\.string).joined(separator: "/")
        if segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) {
            throw StatusError(.invalidArgument, "An ID can't contain a slash, in a URL not as %2F either.", path: path)
        }
        self = segments.count.isMultiple(of: 2) ? .document(try DocumentPath(path)) : .collection(try CollectionPath(path))
    }
}
