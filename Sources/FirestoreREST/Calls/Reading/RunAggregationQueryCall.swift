import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `:runAggregationQuery`
struct RunAggregationQueryCall: Call {
    private let database: DatabaseName
    private let parent: DocumentPath?

    static let right = AggregateQuery.right
    private static let fields: [MessageField] =
        .request("structuredAggregationQuery", "explainOptions") + ConsistencySelector.fields

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        parent = try address.parent()
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try Message(body, fields: Self.fields)
        try message.refuseExplaining()
        let aggregated = try message.require("structuredAggregationQuery") { node throws(StatusError) in
            try AggregatedQuery(node, below: parent, in: database)
        }
        return try await ConsistencySelector(message).read(in: context) { point, begun throws(StatusError) in
            let found = try await AggregateQuery.call(
                .init(aggregated.aggregations, of: aggregated.query, at: point),
                in: context
            )
            let stream = FirestoreStream(count: 1, heldBytes: 0) { [database] _, writer in
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
                if let begun {
                    writer.key("transaction")
                    writer.write(begun)
                }
                writer.endObject()
            }
            return FirestoreAnswer(.stream(stream), damagedCount: found.damaged.count)
        }
    }
}
