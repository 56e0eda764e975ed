import DocumentModel
import DocumentStore
import HearthAPI
import StrictJSON

/// A `:runAggregationQuery` call.
struct RunAggregationQueryCall: RESTCall {
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let requiredPermission = RunAggregationQuery.requiredPermission
    private static let fields: [ProtoField] =
        .request("structuredAggregationQuery", "explainOptions") + ConsistencySelector.fields

    init(_ requestPath: RequestPath, _ parameters: URLParameters) throws(StatusError) {
        database = requestPath.database
        parent = try requestPath.parent()
    }

    func respond(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreResponse {
        let message = try ProtoMessage(body, fields: Self.fields)
        try message.rejectExplainOptions()
        let aggregationQuery = try message.require("structuredAggregationQuery") { node throws(StatusError) in
            try StructuredAggregationQuery(node, below: parent, in: database)
        }
        return try await ConsistencySelector(message).read(in: context) { consistency, newTransaction throws(StatusError) in
            let found = try await RunAggregationQuery.call(
                .init(aggregationQuery.aggregations, of: aggregationQuery.query, consistency: consistency),
                in: context
            )
            let stream = FirestoreMessageStream(count: 1, estimatedBytes: 0) { [database] _, writer in
                writer.beginObject()
                writer.key("result")
                writer.beginObject()
                writer.key("aggregateFields")
                writer.beginObject()
                for (alias, value) in found.results {
                    writer.key(alias)
                    writer.write(value, in: database)
                }
                writer.endObject()
                writer.endObject()
                writer.key("readTime")
                writer.string(found.readTime.rfc3339)
                if let newTransaction {
                    writer.key("transaction")
                    writer.write(newTransaction)
                }
                writer.endObject()
            }
            return FirestoreResponse(.stream(stream), damagedCount: found.damaged.count)
        }
    }
}
