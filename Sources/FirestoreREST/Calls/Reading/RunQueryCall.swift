import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `:runQuery` call.
struct RunQueryCall: RESTCall {
    static let name = "RunQuery"
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let requiredPermission = RunQueryRequest.requiredPermission
    static let expectedResponseBytes = RunQueryRequest.expectedResponseBytes
    private static let fields: [ProtoField] = .request("structuredQuery", "explainOptions") + ConsistencySelector.fields

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        parent = try requestPath.name.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let request = try RunQueryRequest(
            message.require("structuredQuery") { node throws(StatusError) in
                try StructuredQuery(node, below: parent, in: database)
            },
            ConsistencySelector(message),
            explain: message.explainMode()
        )
        let response = try await request.respond(in: context)
        let stream = FirestoreMessageStream(count: response.count, estimatedBytes: response.estimatedBytes) {
            [database] index, writer throws(StatusError) in
            writer.beginObject()
            switch response[index] {
            case .newTransaction(let id):
                writer.key("transaction")
                writer.write(id)
            case .result(let document, let readTime, let skippedCount):
                if let document {
                    writer.key("document")
                    try writer.write(document, in: database)
                }
                if skippedCount > 0 {
                    writer.key("skippedResults")
                    writer.integer(Int64(skippedCount))
                }
                writer.key("readTime")
                writer.string(readTime.rfc3339)
            case .metrics(let metrics, let readTime):
                writer.write(metrics)
                writer.key("readTime")
                writer.string(readTime.rfc3339)
            }
            writer.endObject()
        }
        return FirestoreResponse(.stream(stream), damagedCount: response.damagedCount)
    }
}
