import DocumentModel
import DocumentStore
import JSONRPC
import StrictJSON
import UTF8Text

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

extension JSONSchema {
    /// The schema of a document.
    static var document: JSONSchema {
        .component("Document", of: EncodedDocument.self) {
            .object([
                .init("path", DocumentPath.schema, "The path of the document."),
                .init("fields", MapValue.schema, "The fields, sorted by name in byte order."),
                .init("createTime", Timestamp.schema, "The commit time of the write that created the document."),
                .init("updateTime", Timestamp.schema, "The commit time of the last write that changed the document."),
            ])
        }
    }

    /// The schema of a missing document.
    static var missingDocument: JSONSchema {
        .object([.init("path", DocumentPath.schema, "The path of the missing document.")])
    }
}
