import DocumentModel
import FirestoreAPI
import FirestoreMessages
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
            try ProtoMessage(node, fields: Self.operandFields).requiredField("field")
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
        try self.init(
            operation,
            named: message.read("alias") { node throws(StatusError) in UTF8Key(try node.stringField()) }
        )
    }
}

extension StructuredAggregationQuery {
    private static let fields: [ProtoField] = ["structuredQuery", "aggregations"]

    init(_ node: JSONNode, below parent: DocumentPath?, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        try self.init(
            message.repeated("aggregations") { node throws(StatusError) in try Aggregation(node) },
            of: message.require("structuredQuery") { node throws(StatusError) in
                try StructuredQuery(node, below: parent, in: database)
            }
        )
    }
}
