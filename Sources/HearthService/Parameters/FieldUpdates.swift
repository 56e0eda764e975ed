import DocumentModel
import JSONRPC
import StrictJSON

/// The `fields` of an update: values by field path.
struct FieldUpdates: ParameterValue {
    let values: [(FieldPath, Value)]

    static var schema: JSONSchema {
        .component("FieldUpdates", of: Self.self) {
            .map(of: Value.schema).described("Values by field path: \"a.b\" is the field b of the map a.")
        }
    }

    init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard let members = json.members else { throw location.expected("an object", got: json) }
        var values: [(FieldPath, Value)] = []
        for (key, json) in members {
            let member = ParameterLocation.member(key, of: location)
            let field = try member.model { () throws(StatusError) in try FieldPath(key.string) }
            values.append((field, try FieldValue(json: json, at: member).value(of: field)))
        }
        self.values = values
    }
}
