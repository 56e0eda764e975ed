import DocumentModel
import StrictJSON

extension FieldTransform {
    private static let fields: [MessageField] = [
        "fieldPath", "setToServerValue", "increment", "maximum", "minimum", "appendMissingElements", "removeAllFromArray",
    ]

    /// Reads a transform: `{"fieldPath": "count", "increment": {"integerValue": "1"}}`.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        guard
            let field = try message.read(
                "fieldPath",
                { node throws(StatusError) in try FieldPath(node.stringField()) }
            )
        else { throw StatusError(.invalidArgument, "The transform needs the fieldPath of what it changes.") }
        func operand(_ node: JSONNode) throws(StatusError) -> Value {
            try Value(node, in: database)
        }
        func elements(_ node: JSONNode) throws(StatusError) -> [Value] {
            try Value.elements(node, in: database)
        }
        let operation: Operation? = try message.one(
            of: (
                "setToServerValue",
                { node throws(StatusError) in
                    try node.enumerationField([(1, "REQUEST_TIME", .serverTimestamp)])
                }
            ),
            ("increment", { node throws(StatusError) in .increment(try operand(node)) }),
            ("maximum", { node throws(StatusError) in .maximum(try operand(node)) }),
            ("minimum", { node throws(StatusError) in .minimum(try operand(node)) }),
            ("appendMissingElements", { node throws(StatusError) in .arrayUnion(try elements(node)) }),
            ("removeAllFromArray", { node throws(StatusError) in .arrayRemove(try elements(node)) })
        )
        guard let operation else {
            throw StatusError(
                .invalidArgument,
                "A transform has, beside its fieldPath, one of "
                    + Self.fields.dropFirst().map(\.name.string).joined(separator: ", ")
                    + "; found none.",
                field: field.description
            )
        }
        self.init(field: field, operation: operation)
    }

    /// Checks the field, and what it is changed by.
    func validate() throws(StatusError) {
        try field.validate()
        switch operation {
        case .arrayUnion(let elements), .arrayRemove(let elements):
            for element in elements { try element.validateAsElement(ofArrayAt: field) }
        case .serverTimestamp, .increment, .maximum, .minimum:
            try validateOperand()
        }
    }
}

extension Precondition {
    private static let fields: [MessageField] = ["exists", "updateTime"]

    /// Reads a precondition: `{"exists": true}` or `{"updateTime": …}`, which is nothing when it is empty.
    init(_ node: JSONNode) throws(StatusError) {
        self =
            try Message(node, fields: Self.fields).one(
                of: ("exists", { node throws(StatusError) in .exists(try node.booleanField()) }),
                (
                    "updateTime",
                    { node throws(StatusError) in
                        // A finer time is none that a document has; cut off, it might become one.
                        .updateTime(try Timestamp(alignedRFC3339: node.stringField()))
                    }
                )
            ) ?? .none
    }
}
