import DocumentModel
import JSONRPC
import StrictJSON

/// A value for the field that another parameter names. It is decoded once the field is known, so that errors can name the field.
struct FieldArgument: ParameterValue {
    private let json: JSONNode
    private let location: ParameterLocation

    static var schema: JSONSchema { Value.schema }

    init(json: JSONNode, at location: ParameterLocation) {
        self.json = json
        self.location = location
    }

    /// Decodes the value of a field.
    func value(of field: FieldPath) throws(RPCError) -> Value {
        try location.locatingErrors { () throws(StatusError) in
            let value = try Value(json: json, of: field)
            try value.validate(at: field)
            return value
        }
    }

    /// Decodes an element of an array field.
    func element(ofArrayAt field: FieldPath) throws(RPCError) -> Value {
        try location.locatingErrors { () throws(StatusError) in
            let value = try Value(json: json, of: field)
            try value.validateAsElement(ofArrayAt: field)
            return value
        }
    }
}

extension Value {
    /// Decodes the value of a field; errors name the field.
    init(json: JSONNode, of field: FieldPath) throws(StatusError) {
        do throws(StatusError) {
            self = try Value(json: json)
        } catch {
            throw error.inside(field)
        }
    }
}
