import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// A filter: `{field, op, value}`, `{and: […]}` or `{or: […]}`.
///
/// `==` and `!=` with `null` and `{"$double": "NaN"}` test for null and NaN.
struct FilterParameter: ObjectParameter {
    let filter: QueryFilter

    static let schemaName = "Filter"
    static let field = Parameter<FieldPath?>(FilterKeys.field, "The field, or `__name__` for the document path.")
    static let op = Parameter<Operator?>(FilterKeys.op, "The comparison operator.")
    static let value = Parameter<Operand>(
        FilterKeys.value,
        "The operand: an array of values for `in`, `not-in` and `array-contains-any`, {center, radius} for `near`, "
            + "{southWest, northEast} for `within`, otherwise a value. For `__name__`, a reference, or a document ID as a string."
    )
    static let and = Parameter<[FilterParameter]?>(FilterKeys.and, "Matches documents that match all of these filters.")
    static let or = Parameter<[FilterParameter]?>(FilterKeys.or, "Matches documents that match at least one of these filters.")
    static let members: [any ParameterDescription] = [field, op, value, and, or]

    init(from members: Arguments) throws(RPCError) {
        let value = try members[Self.value]
        switch (try members[Self.field], try members[Self.op], value.isPresent, try members[Self.and], try members[Self.or]) {
        case (let field?, let op?, true, nil, nil):
            filter = .field(field, try op.condition(with: value, on: field))
        case (nil, nil, false, let filters?, nil):
            filter = .and(filters.map(\.filter))
        case (nil, nil, false, nil, let filters?):
            filter = .or(filters.map(\.filter))
        default:
            throw members.location.invalid("expected exactly one of {field, op, value}, {and: […]} and {or: […]}")
        }
    }
}

extension FilterParameter {
    /// A comparison operator, by name.
    struct Operator: ParameterValue {
        private let name: Condition.Operator

        static var schema: JSONSchema { .string(values: Condition.Operator.allCases.map(\.rawValue)) }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            name = try location.parseName(json, among: Condition.Operator.allCases)
        }

        /// Returns the condition that the operator and an operand form for a field.
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
            case .near: .near(try operand.parameter(GeoCircleParameter.self).circle)
            case .within: .within(try operand.parameter(GeoBoxParameter.self).box)
            }
        }
    }
}

/// The operand of a filter, decoded as the operator requires. Unlike in an optional parameter, null is a value.
struct Operand: ParameterValue {
    private let json: JSONNode?
    private let location: ParameterLocation

    static var schema: JSONSchema { .any }
    static var defaultValue: Operand? { Operand() }

    private init() {
        json = nil
        location = .params
    }

    init(json: JSONNode, at location: ParameterLocation) {
        self.json = json
        self.location = location
    }

    /// True if the operand is present.
    var isPresent: Bool { json != nil }

    /// Decodes the operand as a value of a field.
    func value(of field: FieldPath) throws(RPCError) -> Value {
        try Self.value(of: field, required(), at: location)
    }

    /// Decodes the operand as a list of values of a field. The elements are decoded individually, since one may be an array.
    func values(of field: FieldPath) throws(RPCError) -> [Value] {
        let json = try required()
        guard let elements = json.elements else { throw location.expected("an array", got: json) }
        var values: [Value] = []
        values.reserveCapacity(json.count)
        for element in elements {
            values.append(try Self.value(of: field, element, at: .element(values.count, of: location)))
        }
        return values
    }

    /// Decodes the operand as an object.
    func parameter<Parameter: ParameterValue>(_ type: Parameter.Type) throws(RPCError) -> Parameter {
        try Parameter(json: required(), at: location)
    }

    private func required() throws(RPCError) -> JSONNode {
        guard let json else { throw location.invalid("expected a value") }
        return json
    }

    private static func value(
        of field: FieldPath,
        _ json: JSONNode,
        at location: ParameterLocation
    ) throws(RPCError) -> Value {
        try location.locatingErrors { () throws(StatusError) in try Value(json: json, of: field) }
    }
}
