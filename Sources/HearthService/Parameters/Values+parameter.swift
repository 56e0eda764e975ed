package import DocumentModel
package import JSONRPC
package import StrictJSON

extension Value: ParameterValue {
    package static var schema: JSONSchema {
        .component("Value", of: Self.self) {
            .any.described("A field's value: JSON, with one-key objects such as {\"$timestamp\": …} for what JSON cannot say.")
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.model { () throws(StatusError) in try Value(json: json) }
    }
}

extension MapValue: ParameterValue {
    package static var schema: JSONSchema {
        .component("Fields", of: Self.self) {
            .map(of: Value.schema).described("A document's fields by name.")
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        guard json.kind == .object else { throw location.expected("an object", got: json) }
        self = try location.model { () throws(StatusError) in try MapValue(json: json) }
    }
}

extension Timestamp: ParameterValue {
    package static var schema: JSONSchema {
        .string(format: "date-time")
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.text(json) { text throws(StatusError) in try Timestamp(rfc3339: text) }
    }
}
