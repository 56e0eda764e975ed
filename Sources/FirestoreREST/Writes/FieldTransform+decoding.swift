import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON
import UTF8Text

extension FieldTransform {
    private static let fields: [ProtoField] = [
        "fieldPath", "setToServerValue", "increment", "maximum", "minimum", "appendMissingElements", "removeAllFromArray",
    ]

    /// Decodes a transform: `{"fieldPath": "count", "increment": {"integerValue": "1"}}`.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let field = try message.read("fieldPath") { node throws(StatusError) in try FieldPath(node.stringField()) }
        func operand(_ node: JSONNode) throws(StatusError) -> Value {
            try Value(node, in: database)
        }
        func elements(_ node: JSONNode) throws(StatusError) -> [Value] {
            try Value.elements(node, in: database)
        }
        let operation: Operation? = try message.oneOf(
            (
                "setToServerValue",
                { node throws(StatusError) in
                    try node.enumerationField(Self.serverValues)
                }
            ),
            ("increment", { node throws(StatusError) in .increment(try operand(node)) }),
            ("maximum", { node throws(StatusError) in .maximum(try operand(node)) }),
            ("minimum", { node throws(StatusError) in .minimum(try operand(node)) }),
            ("appendMissingElements", { node throws(StatusError) in .arrayUnion(try elements(node)) }),
            ("removeAllFromArray", { node throws(StatusError) in .arrayRemove(try elements(node)) })
        )
        try self.init(field: field, operation: operation)
    }
}

extension Precondition {
    private static let fields: [ProtoField] = ["exists", "updateTime"]

    /// Decodes a precondition: `{"exists": true}`, `{"updateTime": …}`, or an empty object for none.
    init(_ node: JSONNode) throws(StatusError) {
        self =
            try ProtoMessage(node, fields: Self.fields).oneOf(
                ("exists", { node throws(StatusError) in .exists(try node.booleanField()) }),
                (
                    "updateTime",
                    { node throws(StatusError) in
                        // No document has an update time finer than microseconds; truncating this one could make it match.
                        .updateTime(try Timestamp(exactRFC3339: node.stringField()))
                    }
                )
            ) ?? .none
    }
}
