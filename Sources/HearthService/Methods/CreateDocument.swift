package import DocumentModel
import DocumentStore
package import JSONRPC
package import StrictJSON

/// `documents.create`: a document that must not exist yet.
package enum CreateDocument: RPCMethod {
    package struct Params: Sendable {
        package var collection: CollectionPath
        /// The new document's ID; a random one when nil.
        package var id: DocumentID?
        package var fields: MapValue

        package init(collection: CollectionPath, id: DocumentID? = nil, fields: MapValue) {
            self.collection = collection
            self.id = id
            self.fields = fields
        }
    }

    private static let collection = Parameter<CollectionPath>("collection", "Where to create the document.")
    private static let fields = Parameter<MapValue>("fields", "The document's fields.")
    private static let id = Parameter<DocumentID?>("id", "The document's ID; 20 random letters and digits when absent.")

    package static let name: UTF8Key = "documents.create"
    package static let summary = "Creates a document; it must not exist."
    package static let right = Role.writer
    package static let parameters: [any ParameterDescription] = [collection, fields, id]
    package static let result = ResultDescription("document", .document, "The document as it was created.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path, the ID or the fields break a rule."),
        ErrorDescription(status: .alreadyExists, "There is a document of that ID."),
        ErrorDescription(status: .resourceExhausted, "There is no space left."),
        ErrorDescription(status: .dataLoss, "A file of that ID is there, but damaged; the error says where."),
        ErrorDescription(status: .unavailable, "Documents cannot be written now."),
    ]
    package static let examples = [
        RPCExample(
            "a book",
            params: #"{"collection": "books", "id": "salmon", "fields": {"title": "The Salmon of Doubt", "rating": 4.0}}"#,
            result: #"""
                {
                    "path": "books/salmon",
                    "fields": {"rating": 4.0, "title": "The Salmon of Doubt"},
                    "createTime": "2024-02-29T12:00:00.000000Z",
                    "updateTime": "2024-02-29T12:00:00.000000Z"
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let collection = try arguments[collection]
        let id = try arguments[id] ?? .automatic()
        let path = collection.document(id)
        return try path.named { () throws(RPCError) in
            let params = Params(collection: collection, id: id, fields: try arguments[fields])
            try arguments.location(of: fields).model { () throws(StatusError) in
                try Document.validate(params.fields, at: path)
            }
            return params
        }
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        let path = params.collection.document(params.id ?? .automatic())
        let time = try await context.commit(.create(path, params.fields)).commitTime
        // Not read back: another writer may have changed it by now.
        return EncodedDocument(Document(path: path, fields: params.fields, createTime: time, updateTime: time))
    }

    package static func write(_ result: EncodedDocument, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
