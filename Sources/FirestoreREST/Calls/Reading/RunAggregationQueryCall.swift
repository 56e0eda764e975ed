import DocumentModel
import FirestoreAPI
import FirestoreMessages
import HearthAPI
import StrictJSON

/// A `:runAggregationQuery` call.
struct RunAggregationQueryCall: RESTCall {
    static let name = "RunAggregationQuery"
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let requiredPermission = RunAggregationQueryRequest.requiredPermission
    private static let fields: [ProtoField] =
        .request("structuredAggregationQuery", "explainOptions") + ConsistencySelector.fields

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        parent = try requestPath.name.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        let request = RunAggregationQueryRequest(
            try message.require("structuredAggregationQuery") { node throws(StatusError) in
                try StructuredAggregationQuery(node, below: parent, in: database)
            },
            try ConsistencySelector(message),
            explain: try message.explainMode()
        )
        let response = try await request.respond(in: context)
        let stream = FirestoreMessageStream(count: 1, estimatedBytes: 0) { [database] _, writer in
            writer.beginObject()
            if let results = response.results {
                writer.key("result")
                writer.beginObject()
                writer.key("aggregateFields")
                writer.beginObject()
                for (alias, value) in results {
                    writer.key(alias)
                    writer.write(value, in: database)
                }
                writer.endObject()
                writer.endObject()
            }
            writer.key("readTime")
            writer.string(response.readTime.rfc3339)
            if let newTransaction = response.newTransaction {
                writer.key("transaction")
                writer.write(newTransaction)
            }
            if let metrics = response.metrics { writer.write(metrics) }
            writer.endObject()
        }
        return FirestoreResponse(.stream(stream), damagedCount: response.damagedCount)
    }
}
