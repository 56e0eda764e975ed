import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `PATCH …/documents/COLLECTION/DOCUMENT` call.
struct UpdateDocumentCall: RESTCall {
    static let name = "UpdateDocument"
    private let database: DatabaseName
    private let path: DocumentPath
    private let updateMask: [FieldPath]?
    private let mask: [FieldPath]?
    private let precondition: Precondition

    static let requiredPermission = UpdateDocumentRequest.requiredPermission
    static let parameters: [ProtoField] = .parameters(
        "updateMask.fieldPaths",
        "mask.fieldPaths",
        "currentDocument.exists",
        "currentDocument.updateTime"
    )

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        path = try requestPath.name.document()
        updateMask = try parameters.mask("updateMask.fieldPaths")
        mask = try parameters.mask("mask.fieldPaths")
        precondition = try parameters.precondition()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try DocumentMessage(body, in: database)
        guard message.path == nil || message.path == path else {
            throw StatusError(.invalidArgument, "The document's name does not match the request path.")
        }
        let request = try UpdateDocumentRequest(
            path,
            message.fields,
            updateMask: updateMask,
            mask: mask,
            precondition: precondition
        )
        return try .document(await request.respond(in: context), in: database)
    }
}

/// A `DELETE …/documents/COLLECTION/DOCUMENT` call.
struct DeleteDocumentCall: RESTCall {
    static let name = "DeleteDocument"
    private let write: Write

    static let requiredPermission = DeleteDocument.requiredPermission
    static let parameters: [ProtoField] = .parameters("currentDocument.exists", "currentDocument.updateTime")
    static let acceptsBody = false

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        write = .delete(try requestPath.name.document(), precondition: try parameters.precondition())
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        try await DeleteDocument.call(write, in: context)
        return .empty
    }
}
