import DocumentModel
import HearthWire
import JSONRPC

extension JSONSchema {
    /// The schema of a document.
    static var document: JSONSchema {
        .component("Document", of: EncodedDocument.self) {
            .object(documentProperties)
        }
    }

    /// The members of a document.
    static var documentProperties: [Property] {
        [
            .init(DocumentKeys.path, DocumentPath.schema, "The path of the document."),
            .init(DocumentKeys.fields, MapValue.schema, "The fields, sorted by name in byte order."),
            .init(DocumentKeys.createTime, Timestamp.schema, "The commit time of the write that created the document."),
            .init(DocumentKeys.updateTime, Timestamp.schema, "The commit time of the last write that changed the document."),
        ]
    }

    /// The schema of a missing document.
    static var missingDocument: JSONSchema {
        .object([.init(DocumentKeys.path, DocumentPath.schema, "The path of the missing document.")])
    }
}
