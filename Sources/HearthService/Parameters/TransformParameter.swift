import DocumentModel
import JSONRPC
import StrictJSON

/// A change that the server computes from a field's value: `{field, increment: 1}` and the like.
struct TransformParameter: ObjectParameter {
    let transform: FieldTransform

    static let schemaName = "Transform"
    static let field = Parameter<FieldPath>("field", "The field to change.")
    static let serverTimestamp = Parameter<Bool?>("serverTimestamp", "true: the time of the commit.")
    static let increment = Parameter<Value?>("increment", "Add this number; a field that is no number becomes it.")
    static let maximum = Parameter<Value?>("maximum", "The larger of the field and this number.")
    static let minimum = Parameter<Value?>("minimum", "The smaller of the field and this number.")
    static let arrayUnion = Parameter<[Value]?>("arrayUnion", "Append those of these values that the array does not hold.")
    static let arrayRemove = Parameter<[Value]?>("arrayRemove", "Remove all that equal one of these values from the array.")
    static let members: [any ParameterDescription] = [
        field, serverTimestamp, increment, maximum, minimum, arrayUnion, arrayRemove,
    ]

    init(from members: Arguments) throws(RPCError) {
        var operations: [FieldTransform.Operation] = []
        if let isSet = try members[Self.serverTimestamp] {
            guard isSet else {
                throw .invalidParams(at: "\(members.location(of: Self.serverTimestamp))", reason: "expected true, or nothing")
            }
            operations.append(.serverTimestamp)
        }
        if let operand = try members[Self.increment] { operations.append(.increment(operand)) }
        if let operand = try members[Self.maximum] { operations.append(.maximum(operand)) }
        if let operand = try members[Self.minimum] { operations.append(.minimum(operand)) }
        if let elements = try members[Self.arrayUnion] { operations.append(.arrayUnion(elements)) }
        if let elements = try members[Self.arrayRemove] { operations.append(.arrayRemove(elements)) }
        guard operations.count == 1, let operation = operations.first else {
            throw .invalidParams(
                at: "\(members.location(of: Self.field))",
                reason: "beside the field a transform has exactly one of "
                    + Self.members.dropFirst().map(\.name.string).joined(separator: ", ")
            )
        }
        transform = FieldTransform(field: try members[Self.field], operation: operation)
    }
}
