import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `:batchGet` call.
struct BatchGetCall: RESTCall {
    static let name = "BatchGetDocuments"
    private let database: DatabaseName

    static let requiredPermission = BatchGetDocumentsRequest.requiredPermission
    static let expectedResponseBytes = BatchGetDocumentsRequest.expectedResponseBytes
    private static let fields: [ProtoField] = .request("documents", "mask") + ConsistencySelector.fields

    init(_ requestPath: RequestPath, _ parameters: URLParameters) {
        database = requestPath.database
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let request = BatchGetDocumentsRequest(
            try message.repeated("documents") { node throws(StatusError) in try database.document(named: node.stringField()) },
            mask: try message.read("mask") { node throws(StatusError) in try [FieldPath](mask: node) },
            try ConsistencySelector(message)
        )
        let response = try await request.respond(in: context)
        let stream = FirestoreMessageStream(count: response.count, estimatedBytes: response.estimatedBytes) {
            [database] index, writer throws(StatusError) in
            let message = response[index]
            writer.beginObject()
            if let newTransaction = message.newTransaction {
                writer.key("transaction")
                writer.write(newTransaction)
            }
            switch message.entry {
            case .document(let document)?:
                writer.key("found")
                try writer.write(document, in: database)
            case .missing(let path)?:
                writer.key("missing")
                writer.string(database.name(of: path))
            case nil: break
            }
            writer.key("readTime")
            writer.string(message.readTime.rfc3339)
            writer.endObject()
        }
        return FirestoreResponse(.stream(stream))
    }
}
