import DocumentModel
import JSONRPC
import StrictJSON

/// What stands beside an operator, which decides how it is read. Unlike with an optional parameter, null is a value here.
struct Operand: ParameterValue {
    private let json: JSONNode?
    private let location: ParameterLocation

    static var schema: JSONSchema { .any }
    static var whenAbsent: Operand? { Operand() }

    private init() {
        json = nil
        location = .params
    }

    init(json: JSONNode, at location: ParameterLocation) {
        self.json = json
        self.location = location
    }

    /// Whether there is one.
    var isGiven: Bool { json != nil }

    /// The operand as a field's value.
    func value(of field: FieldPath) throws(RPCError) -> Value {
        try Self.value(of: field, given(), at: location)
    }

    /// The operand as a list of a field's values. They are read one by one, since one of them may be an array.
    func values(of field: FieldPath) throws(RPCError) -> [Value] {
        let json = try given()
        guard let elements = json.elements else { throw location.expected("an array", got: json) }
        var values: [Value] = []
        values.reserveCapacity(json.count)
        for element in elements {
            values.append(try Self.value(of: field, element, at: .element(values.count, of: location)))
        }
        return values
    }

    /// The operand as an object of its own form.
    func parameter<Parameter: ParameterValue>(_ type: Parameter.Type) throws(RPCError) -> Parameter {
        try Parameter(json: given(), at: location)
    }

    private func given() throws(RPCError) -> JSONNode {
        guard let json else { throw location.invalid("a value is required") }
        return json
    }

    private static func value(
        of field: FieldPath,
        _ json: JSONNode,
        at location: ParameterLocation
    ) throws(RPCError) -> Value {
        try location.model { () throws(StatusError) in try Value(json: json, of: field) }
    }
}
