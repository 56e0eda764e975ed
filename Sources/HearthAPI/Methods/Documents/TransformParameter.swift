import DocumentModel
import HearthWire
import JSONRPC
import UTF8Text

/// A field transform, such as `{field, increment: 1}`.
struct TransformParameter: ObjectParameter {
    let transform: FieldTransform

    static let schemaName = "Transform"
    static let field = Parameter<FieldPath>(TransformKeys.field, "The field to transform.")
    static let serverTimestamp = Parameter<Bool?>(
        TransformKeys.serverTimestamp,
        "true sets the field to the commit time, truncated to milliseconds."
    )
    static let increment = Parameter<FieldArgument?>(
        TransformKeys.increment,
        "Adds this number. A field that is not a number is set to it."
    )
    static let maximum = Parameter<FieldArgument?>(
        TransformKeys.maximum,
        "Sets the field to the larger of its value and this number."
    )
    static let minimum = Parameter<FieldArgument?>(
        TransformKeys.minimum,
        "Sets the field to the smaller of its value and this number."
    )
    static let arrayUnion = Parameter<[FieldArgument]?>(
        TransformKeys.arrayUnion,
        "Appends the values that the array does not contain."
    )
    static let arrayRemove = Parameter<[FieldArgument]?>(
        TransformKeys.arrayRemove,
        "Removes all elements that equal one of these values."
    )
    static let members: [any ParameterDescription] = [
        field, serverTimestamp, increment, maximum, minimum, arrayUnion, arrayRemove,
    ]

    init(from members: Arguments) throws(RPCError) {
        let field = try members[Self.field]
        try members.location(of: Self.field).locatingErrors { () throws(StatusError) in try field.validate() }
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
                reason: "expected exactly one of "
                    + Self.members.dropFirst().map(\.name.string).joined(separator: ", ")
            )
        }
        transform = FieldTransform(field: field, operation: operation)
    }

    private static func serverTimestamp(from members: Arguments) throws(RPCError) -> FieldTransform.Operation? {
        guard let isSet = try members[Self.serverTimestamp] else { return nil }
        guard isSet else {
            throw .invalidParams(at: "\(members.location(of: Self.serverTimestamp))", reason: "expected true")
        }
        return .serverTimestamp
    }

    /// Returns an operation with a single operand.
    private static func operation(
        _ parameter: Parameter<FieldArgument?>,
        from members: Arguments,
        on field: FieldPath,
        make: (Value) -> FieldTransform.Operation
    ) throws(RPCError) -> FieldTransform.Operation? {
        guard let operand = try members[parameter] else { return nil }
        let operation = make(try operand.value(of: field))
        try members.location(of: parameter).locatingErrors { () throws(StatusError) in
            try FieldTransform(field: field, operation: operation).validateOperand()
        }
        return operation
    }

    /// Returns an operation with array elements as operands.
    private static func operation(
        _ parameter: Parameter<[FieldArgument]?>,
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
