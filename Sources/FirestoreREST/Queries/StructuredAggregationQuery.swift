import DocumentModel
import HearthAPI
import StrictJSON
import UTF8Text

extension Aggregation {
    private static let fields: [ProtoField] = ["alias", "count", "sum", "avg"]
    private static let countFields: [ProtoField] = ["upTo"]
    private static let operandFields: [ProtoField] = ["field"]

    /// Decodes an aggregation: `{"alias": "pages", "sum": {"field": {"fieldPath": "numberOfPages"}}}`.
    init(_ node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        func operand(_ node: JSONNode) throws(StatusError) -> FieldPath {
            try ProtoMessage(node, fields: Self.operandFields).field("field")
        }
        let operation: Operation? = try message.oneOf(
            (
                "count",
                { node throws(StatusError) in
                    let upTo = try ProtoMessage(node, fields: Self.countFields).read("upTo") { node throws(StatusError) in
                        Int(try node.integerField())
                    }
                    return .count(upTo: upTo)
                }
            ),
            ("sum", { node throws(StatusError) in .sum(try operand(node)) }),
            ("avg", { node throws(StatusError) in .average(try operand(node)) })
        )
        guard let operation else {
            throw StatusError(.invalidArgument, "Expected one of count, sum and avg, found none.")
        }
        self.init(operation, alias: try message.read("alias") { node throws(StatusError) in UTF8Key(try node.stringField()) })
    }
}

/// A decoded `StructuredAggregationQuery`.
struct StructuredAggregationQuery {
    let query: NormalizedQuery
    let aggregations: NormalizedAggregations

    private static let fields: [ProtoField] = ["structuredQuery", "aggregations"]

    init(_ node: JSONNode, below parent: DocumentPath?, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let requested = try message.repeated("aggregations") { node throws(StatusError) in try Aggregation(node) }
        let aggregations: NormalizedAggregations
        do throws(StatusError) {
            aggregations = try NormalizedAggregations(requested)
        } catch {
            throw error.withProtoAggregationPath()
        }
        let query = try message.require("structuredQuery") { node throws(StatusError) in
            let query = try NormalizedQuery(node, below: parent, in: database, aggregating: aggregations.fields)
            try query.requireAggregatable()
            return query
        }
        self.query = query
        self.aggregations = aggregations
    }
}
