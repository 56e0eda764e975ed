package import DocumentModel
import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `documents.create`: creates a document.
package enum CreateDocument: RPCMethod {
    /// The parameters of `documents.create`.
    package struct Params: Sendable {
        package var collection: CollectionPath
        /// The ID of the document, or `nil` for a random one.
        package var id: DocumentPath.ID?
        package var fields: MapValue

        package init(collection: CollectionPath, id: DocumentPath.ID? = nil, fields: MapValue) {
            self.collection = collection
            self.id = id
            self.fields = fields
        }
    }

    private static let collection = Parameter<CollectionPath>(CreateParameterKeys.collection, "The collection of the document.")
    private static let fields = Parameter<MapValue>(CreateParameterKeys.fields, "The fields of the document.")
    private static let id = Parameter<DocumentPath.ID?>(
        CreateParameterKeys.id,
        "The ID of the document. Default: 20 random letters and digits."
    )

    package static let name: UTF8Key = "documents.create"
    package static let summary = "Creates a document, which must not exist."
    package static let requiredPermission = Permission.writeDocuments
    package static let parameters: [any ParameterDescription] = [collection, fields, id]
    package static let result = ResultDescription("document", .document, "The created document.")
    package static let errors = [
        ErrorDescription(status: .invalidArgument, "The path, ID or fields are invalid."),
        ErrorDescription(status: .alreadyExists, "A document with the ID already exists."),
        ErrorDescription(status: .resourceExhausted, "The disk is full."),
        ErrorDescription(status: .dataLoss, "A damaged file with the ID exists; the error includes the location."),
        ErrorDescription(status: .unavailable, "The store does not currently accept writes."),
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
        return try path.attachingToErrors { () throws(RPCError) in
            let params = Params(collection: collection, id: id, fields: try arguments[fields])
            try arguments.location(of: fields).locatingErrors { () throws(StatusError) in
                try Document.validate(params.fields, at: path)
            }
            return params
        }
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> EncodedDocument {
        let path = params.collection.document(params.id ?? .automatic())
        let time = try await context.commit(.create(path, params.fields)).commitTime
        // Not read back: another client may have changed the document since.
        return EncodedDocument(Document(path: path, fields: params.fields, createTime: time, updateTime: time))
    }

    package static func write(_ result: EncodedDocument, to writer: inout JSONWriter) {
        result.write(to: &writer)
    }
}
