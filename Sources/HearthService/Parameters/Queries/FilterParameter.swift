import DocumentModel
import JSONRPC
import StrictJSON

/// What documents must fulfil: `{field, op, value}`, `{and: […]}` or `{or: […]}`.
///
/// A field is null or NaN, or isn't, by `==` and `!=` with `null` and `{"$double": "NaN"}`.
struct FilterParameter: ObjectParameter {
    let filter: Filter

    static let schemaName = "Filter"
    static let field = Parameter<FieldPath?>("field", "The field, or `__name__` for the document's own path.")
    static let op = Parameter<Operator?>("op", "How the field's value is compared.")
    static let value = Parameter<Operand>(
        "value",
        "What with: for in, not-in and array-contains-any an array of values, for near {center, radius}, for within "
            + "{southWest, northEast}, else a value. For `__name__` a reference, or a document's ID as a string."
    )
    static let and = Parameter<[FilterParameter]?>("and", "Filters of which all must be fulfilled.")
    static let or = Parameter<[FilterParameter]?>("or", "Filters of which at least one must be fulfilled.")
    static let members: [any ParameterDescription] = [field, op, value, and, or]

    init(from members: Arguments) throws(RPCError) {
        let value = try members[Self.value]
        switch (try members[Self.field], try members[Self.op], value.isGiven, try members[Self.and], try members[Self.or]) {
        case (let field?, let op?, true, nil, nil):
            filter = .field(field, try op.condition(with: value, on: field))
        case (nil, nil, false, let filters?, nil):
            filter = .and(filters.map(\.filter))
        case (nil, nil, false, nil, let filters?):
            filter = .or(filters.map(\.filter))
        default:
            throw members.location.invalid("a filter is exactly one of {field, op, value}, {and: […]} and {or: […]}")
        }
    }
}

extension FilterParameter {
    /// An operator by its name.
    struct Operator: ParameterValue {
        private let name: Condition.Operator

        static var schema: JSONSchema { .string(values: Condition.Operator.allCases.map(\.rawValue)) }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            name = try location.choice(json, among: Condition.Operator.allCases)
        }

        /// The condition on a field that the operator makes with an operand.
        func condition(with operand: Operand, on field: FieldPath) throws(RPCError) -> Condition {
            switch name {
            case .equal: .equal(try operand.value(of: field))
            case .notEqual: .notEqual(try operand.value(of: field))
            case .less: .less(try operand.value(of: field))
            case .lessOrEqual: .lessOrEqual(try operand.value(of: field))
            case .greater: .greater(try operand.value(of: field))
            case .greaterOrEqual: .greaterOrEqual(try operand.value(of: field))
            case .in: .in(try operand.values(of: field))
            case .notIn: .notIn(try operand.values(of: field))
            case .arrayContains: .arrayContains(try operand.value(of: field))
            case .arrayContainsAny: .arrayContainsAny(try operand.values(of: field))
            case .near: .near(try operand.parameter(CircleParameter.self).circle)
            case .within: .within(try operand.parameter(BoxParameter.self).box)
            }
        }
    }
}
