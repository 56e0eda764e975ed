import DocumentModel
import DocumentStore
import StrictJSON

extension ListedDocument {
    /// Writes the document, or `{"path": …}` alone for one that does not exist.
    func write(to writer: inout JSONWriter) {
        switch self {
        case .document(let document):
            document.write(to: &writer)
        case .missing(let path):
            writer.beginObject()
            writer.key("path")
            writer.string(path.string)
            writer.endObject()
        }
    }
}
