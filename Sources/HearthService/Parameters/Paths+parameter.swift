package import DocumentModel
package import JSONRPC
package import StrictJSON

extension DocumentPath: ParameterValue {
    package static var schema: JSONSchema {
        .component("DocumentPath", of: Self.self) {
            .string().described("Where a document is: collection and document IDs in turn, such as books/hitchhiker.")
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.text(json) { text throws(StatusError) in try DocumentPath(text) }
    }
}

extension CollectionPath: ParameterValue {
    package static var schema: JSONSchema {
        .component("CollectionPath", of: Self.self) {
            .string().described("Where a collection is: books, or books/hitchhiker/reviews.")
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.text(json) { text throws(StatusError) in try CollectionPath(text) }
    }
}

extension CollectionID: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.text(json) { text throws(StatusError) in try CollectionID(text) }
    }
}

extension DocumentID: ParameterValue {
    package static var schema: JSONSchema {
        .string()
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.text(json) { text throws(StatusError) in try DocumentID(text) }
    }
}

extension FieldPath: ParameterValue {
    package static var schema: JSONSchema {
        .component("FieldPath", of: Self.self) {
            .string().described(
                "Where a field is: names between dots, a name of other than letters, digits and _ in back-quotes."
            )
        }
    }

    package init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
        self = try location.text(json) { text throws(StatusError) in try FieldPath(text) }
    }
}
