import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `POST …/documents/COLLECTION` call.
struct CreateDocumentCall: RESTCall {
    static let name = "CreateDocument"
    private let database: DatabaseName
    private let collection: CollectionPath
    private let id: String?
    private let mask: [FieldPath]?

    static let requiredPermission = CreateDocumentRequest.requiredPermission
    static let parameters: [ProtoField] = .parameters("documentId", "mask.fieldPaths")

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        collection = try requestPath.name.collection()
        id = try parameters.string("documentId")
        mask = try parameters.mask("mask.fieldPaths")
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try DocumentMessage(body, in: database)
        let request = try CreateDocumentRequest(message.fields, in: collection, id: id, mask: mask)
        return try .document(await request.respond(in: context), in: database)
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
