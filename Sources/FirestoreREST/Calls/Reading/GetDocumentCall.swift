import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON
import UTF8Text

/// A `GET …/documents/COLLECTION/DOCUMENT` call.
struct GetDocumentCall: RESTCall {
    static let name = "GetDocument"
    private let database: DatabaseName
    private let request: GetDocument.Params

    static let requiredPermission = GetDocument.requiredPermission
    static let parameters: [ProtoField] = .parameters("mask.fieldPaths", "transaction", "readTime")
    static let acceptsBody = false
    static let expectedResponseBytes = GetDocument.expectedResponseBytes

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        request = GetDocument.Params(
            path: try requestPath.name.document(),
            mask: try parameters.mask("mask.fieldPaths"),
            consistency: try ReadConsistency(parameters)
        )
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        try .document(await GetDocument.document(request, in: context), in: database)
    }
}

extension ReadConsistency {
    /// Decodes the consistency selector of a request with query parameters.
    init(_ parameters: URLParameters) throws(StatusError) {
        self.init(
            readTime: try parameters.timestamp("readTime"),
            transaction: try parameters.string("transaction").flatMap { text throws(StatusError) in
                try TransactionID(bytes: Base64.decodeAny(text))
            }
        )
    }
}
