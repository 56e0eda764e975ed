import DocumentModel
import HearthAPI
import StrictJSON

/// A `POST …/documents/COLLECTION` call.
struct CreateDocumentCall: RESTCall {
    private let database: DatabaseName
    private let collection: CollectionPath
    private let id: DocumentPath.ID
    private let mask: [FieldPath]?

    static let requiredPermission = CreateDocument.requiredPermission
    static let parameters: [ProtoField] = .parameters("documentId", "mask.fieldPaths")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        collection = try requestPath.collection()
        id = try parameters.string("documentId").map { text throws(StatusError) in try DocumentPath.ID(text) } ?? .automatic()
        mask = try parameters.mask("mask.fieldPaths")
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try DocumentMessage(body, in: database)
        try Document.validate(message.fields, at: collection.document(id))
        var document = try await CreateDocument.call(
            .init(collection: collection, id: id, fields: message.fields),
            in: context
        )
        if let mask { document = try document.masked(mask) }
        return try .document(document, in: database)
    }
}

extension FirestoreResponse {
    /// Returns a response with one document.
    static func document(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) -> FirestoreResponse {
        var writer = JSONWriter(reservingCapacity: 512 + 2 * document.fieldsJSON.count)
        try writer.write(document, in: database)
        return FirestoreResponse(.message(writer.finish()))
    }
}
