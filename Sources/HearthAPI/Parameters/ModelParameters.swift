package import DocumentModel
package import JSONRPC
package import StrictJSON

extension DocumentPath: ParameterValue {
    package static var schema: JSONSchema {
        .component("DocumentPath", of: Self.self) {
            .string().described("The path of a document: alternating collection and document IDs, such as books/hitchhiker.")
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.parseString(json) { text throws(StatusError) in try DocumentPath(text) }
    }
}

extension CollectionPath: ParameterValue {
    package static var schema: JSONSchema {
        .component("CollectionPath", of: Self.self) {
            .string().described("The path of a collection, such as books or books/hitchhiker/reviews.")
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.parseString(json) { text throws(StatusError) in try CollectionPath(text) }
    }
}

extension CollectionID: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.parseString(json) { text throws(StatusError) in try CollectionID(text) }
    }
}

extension DocumentPath.ID: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.parseString(json) { text throws(StatusError) in try DocumentPath.ID(text) }
    }
}

extension FieldPath: ParameterValue {
    package static var schema: JSONSchema {
        .component("FieldPath", of: Self.self) {
            .string().described(
                "The path of a field: names separated by dots. Names with characters other than letters, digits and _ are enclosed in backticks."
            )
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.parseString(json) { text throws(StatusError) in try FieldPath(text) }
    }
}

extension Value: ParameterValue {
    package static var schema: JSONSchema {
        .component("Value", of: Self.self) {
            .any.described(
                "The value of a field: JSON, with single-key objects such as {\"$timestamp\": …} for types that JSON lacks."
            )
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.locatingErrors { () throws(StatusError) in try Value(json: json) }
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
        self = try location.locatingErrors { () throws(StatusError) in try MapValue(json: json) }
    }
}

extension Timestamp: ParameterValue {
    package static var schema: JSONSchema {
        .string(format: "date-time")
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.parseString(json) { text throws(StatusError) in try Timestamp(rfc3339: text) }
    }
}
