import DocumentModel
import JSONRPC
import StrictJSON

/// A value whose field stands beside it in the call: it is read when that is known, so that errors can name the field.
struct FieldValue: ParameterValue {
    private let json: JSONNode
    private let location: ParameterLocation

    static var schema: JSONSchema { Value.schema }

    init(json: JSONNode, at location: ParameterLocation) {
        self.json = json
        self.location = location
    }

    /// The value as that of a field.
    func value(of field: FieldPath) throws(RPCError) -> Value {
        try location.model { () throws(StatusError) in
            let value = try Value(json: json, of: field)
            try value.validate(at: field)
            return value
        }
    }

    /// The value as an element of the array in a field.
    func element(ofArrayAt field: FieldPath) throws(RPCError) -> Value {
        try location.model { () throws(StatusError) in
            let value = try Value(json: json, of: field)
            try value.validateAsElement(ofArrayAt: field)
            return value
        }
    }
}

extension Value {
    /// Reads the value of a field, which errors name.
    init(json: JSONNode, of field: FieldPath) throws(StatusError) {
        do throws(StatusError) {
            self = try Value(json: json)
        } catch {
            throw error.inside(field)
        }
    }
}
