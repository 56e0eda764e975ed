package import DocumentModel
package import StrictJSON

extension VectorSearch {
    private static let fields: [ProtoField] = [
        "vectorField", "queryVector", "distanceMeasure", "limit", "distanceResultField", "distanceThreshold",
    ]

    /// Decodes a `findNearest`.
    package init(_ node: JSONNode, in database: DatabaseName, _ form: ProtoJSONForm = .standard) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        try self.init(
            field: message.field("vectorField"),
            queryVector: message.read("queryVector") { node throws(StatusError) in try Value(node, in: database, form) },
            measure: message.read("distanceMeasure") { node throws(StatusError) in try node.enumerationField(Self.measures) },
            limit: message.read("limit") { node throws(StatusError) in
                try node.wrappedField(form) { number throws(StatusError) in try number.countField() }
            },
            distanceField: message.read("distanceResultField") { node throws(StatusError) in
                let text = try node.stringField()
                return text.utf8.isEmpty ? nil : try FieldPath(text)
            } ?? nil,
            threshold: message.read("distanceThreshold") { node throws(StatusError) in
                try node.wrappedField(form) { number throws(StatusError) in try number.doubleField() }
            }
        )
    }
}
