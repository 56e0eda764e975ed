import DocumentModel
import HearthService
import StrictJSON

/// `GET …/documents/COLLECTION/DOCUMENT`
struct GetDocumentCall: Call {
    private let database: DatabaseName
    private let request: GetDocument.Params

    static let right = GetDocument.right
    static let parameters: [MessageField] = .parameters("mask.fieldPaths", "transaction", "readTime")
    static let takesBody = false
    static let expectedAnswerBytes = GetDocument.expectedAnswerBytes

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        request = GetDocument.Params(
            path: try address.document(),
            mask: try parameters.mask("mask.fieldPaths"),
            at: try ReadPoint(parameters)
        )
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        try .document(await GetDocument.call(request, in: context), in: database)
    }
}

extension ReadPoint {
    /// As of when a request reads whose fields stand in the URL.
    init(_ parameters: URLParameters) throws(StatusError) {
        self.init(
            readTime: try parameters.timestamp("readTime"),
            transaction: try parameters.text("transaction").flatMap { text throws(StatusError) in try TransactionID(base64: text)
            }
        )
    }
}
