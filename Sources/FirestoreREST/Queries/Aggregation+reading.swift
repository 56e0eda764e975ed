import DocumentModel
import HearthService
import StrictJSON

extension Aggregation {
    private static let fields: [MessageField] = ["alias", "count", "sum", "avg"]
    private static let countFields: [MessageField] = ["upTo"]
    private static let numberFields: [MessageField] = ["field"]

    /// Reads an aggregation: `{"alias": "pages", "sum": {"field": {"fieldPath": "numberOfPages"}}}`.
    init(_ node: JSONNode) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        func number(_ node: JSONNode) throws(StatusError) -> FieldPath {
            try Message(node, fields: Self.numberFields).field("field")
        }
        let operation: Operation? = try message.one(
            of: (
                "count",
                { node throws(StatusError) in
                    let upTo = try Message(node, fields: Self.countFields).read("upTo") { node throws(StatusError) in
                        Int(try node.integerField())
                    }
                    return .count(upTo: upTo)
                }
            ),
            ("sum", { node throws(StatusError) in .sum(try number(node)) }),
            ("avg", { node throws(StatusError) in .average(try number(node)) })
        )
        guard let operation else {
            throw StatusError(.invalidArgument, "An aggregation has one of count, sum and avg; found none.")
        }
        self.init(operation, alias: try message.read("alias") { node throws(StatusError) in UTF8Key(try node.stringField()) })
    }
}

/// A query whose documents are aggregated.
struct AggregatedQuery {
    let query: NormalizedQuery
    let aggregations: NormalizedAggregations

    private static let fields: [MessageField] = ["structuredQuery", "aggregations"]

    init(_ node: JSONNode, below parent: DocumentPath?, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        let wanted = try message.list("aggregations") { node throws(StatusError) in try Aggregation(node) }
        let aggregations: NormalizedAggregations
        do throws(StatusError) {
            aggregations = try NormalizedAggregations(wanted)
        } catch {
            throw error.placedInAggregations()
        }
        let query = try message.require("structuredQuery") { node throws(StatusError) in
            let query = try NormalizedQuery(node, below: parent, in: database, aggregating: aggregations.fields)
            try query.checkIsAggregated()
            return query
        }
        self.query = query
        self.aggregations = aggregations
    }
}
