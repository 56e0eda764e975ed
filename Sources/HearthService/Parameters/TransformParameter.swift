import DocumentModel
import JSONRPC
import StrictJSON

/// A change that the server computes from a field's value: `{field, increment: 1}` and the like.
struct TransformParameter: ObjectParameter {
    let transform: FieldTransform

    static let schemaName = "Transform"
    static let field = Parameter<FieldPath>("field", "The field to change.")
    static let serverTimestamp = Parameter<Bool?>("serverTimestamp", "true: the time of the commit.")
    static let increment = Parameter<FieldValue?>("increment", "Add this number; a field that is no number becomes it.")
    static let maximum = Parameter<FieldValue?>("maximum", "The larger of the field and this number.")
    static let minimum = Parameter<FieldValue?>("minimum", "The smaller of the field and this number.")
    static let arrayUnion = Parameter<[FieldValue]?>("arrayUnion", "Append those of these values that the array does not hold.")
    static let arrayRemove = Parameter<[FieldValue]?>("arrayRemove", "Remove all that equal one of these values from the array.")
    static let members: [any ParameterDescription] = [
        field, serverTimestamp, increment, maximum, minimum, arrayUnion, arrayRemove,
    ]

    init(from members: Arguments) throws(RPCError) {
        let field = try members[Self.field]
        try members.location(of: Self.field).model { () throws(StatusError) in try field.validate() }
        let operations = try [
            Self.serverTimestamp(from: members),
            Self.operation(Self.increment, from: members, on: field) { .increment($0) },
            Self.operation(Self.maximum, from: members, on: field) { .maximum($0) },
            Self.operation(Self.minimum, from: members, on: field) { .minimum($0) },
            Self.operation(Self.arrayUnion, from: members, on: field) { .arrayUnion($0) },
            Self.operation(Self.arrayRemove, from: members, on: field) { .arrayRemove($0) },
        ].compactMap(\.self)
        guard operations.count == 1, let operation = operations.first else {
            throw .invalidParams(
                at: "\(members.location(of: Self.field))",
                reason: "beside the field a transform has exactly one of "
                    + Self.members.dropFirst().map(\.name.string).joined(separator: ", ")
            )
        }
        transform = FieldTransform(field: field, operation: operation)
    }

    private static func serverTimestamp(from members: Arguments) throws(RPCError) -> FieldTransform.Operation? {
        guard let isSet = try members[Self.serverTimestamp] else { return nil }
        guard isSet else {
            throw .invalidParams(at: "\(members.location(of: Self.serverTimestamp))", reason: "expected true, or nothing")
        }
        return .serverTimestamp
    }

    /// An operation with a number as its operand.
    private static func operation(
        _ parameter: Parameter<FieldValue?>,
        from members: Arguments,
        on field: FieldPath,
        make: (Value) -> FieldTransform.Operation
    ) throws(RPCError) -> FieldTransform.Operation? {
        guard let operand = try members[parameter] else { return nil }
        let operation = make(try operand.value(of: field))
        try members.location(of: parameter).model { () throws(StatusError) in
            try FieldTransform(field: field, operation: operation).validateOperand()
        }
        return operation
    }

    /// An operation with elements of an array as its operand.
    private static func operation(
        _ parameter: Parameter<[FieldValue]?>,
        from members: Arguments,
        on field: FieldPath,
        make: ([Value]) -> FieldTransform.Operation
    ) throws(RPCError) -> FieldTransform.Operation? {
        guard let operands = try members[parameter] else { return nil }
        var elements: [Value] = []
        for operand in operands { elements.append(try operand.element(ofArrayAt: field)) }
        return make(elements)
    }
}
