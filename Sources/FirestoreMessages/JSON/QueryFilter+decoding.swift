package import DocumentModel
package import StrictJSON
import UTF8Text

extension QueryFilter {
    private static let fields: [ProtoField] = ["compositeFilter", "fieldFilter", "unaryFilter"]

    /// Decodes a filter. Recursion is bounded by the depth limit of the JSON text.
    package init(_ node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm = .standard) throws(StatusError) {
        self = try .required(
            ProtoMessage(node, fields: Self.fields).oneOf(
                ("compositeFilter", { node throws(StatusError) in try QueryFilter(composite: node, in: database, form) }),
                ("fieldFilter", { node throws(StatusError) in try QueryFilter(field: node, in: database, form) }),
                ("unaryFilter", { node throws(StatusError) in try QueryFilter(unary: node) })
            )
        )
    }

    private static let compositeFilterFields: [ProtoField] = ["op", "filters"]

    private init(composite node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.compositeFilterFields)
        try self.init(
            message.read("op") { node throws(StatusError) in try node.enumerationField(CompositeOperator.messageValues) },
            message.repeated("filters") { node throws(StatusError) in try QueryFilter(node, in: database, form) }
        )
    }

    private static let fieldFilterFields: [ProtoField] = ["field", "op", "value"]

    private init(field node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fieldFilterFields)
        try self.init(
            message.field("field"),
            message.read("op") { node throws(StatusError) in try node.enumerationField(FieldOperator.messageValues) },
            message.read("value") { node throws(StatusError) in try Value(inQuery: node, in: database, form) }
        )
    }

    private static let unaryFilterFields: [ProtoField] = ["field", "op"]

    private init(unary node: JSONNode) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.unaryFilterFields)
        try self.init(
            message.field("field"),
            unary: message.read("op") { node throws(StatusError) in try node.enumerationField(Self.unaryConditions) }
        )
    }
}

extension Value {
    /// Decodes a value that documents are compared with.
    package init(inQuery node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm = .standard) throws(StatusError) {
        if let name = (node["referenceValue"] ?? node["reference_value"])?.string, node.count == 1 {
            try self.init(referenceInQuery: name, in: database)
        } else {
            try self.init(node, in: database, form)
        }
    }
}
