import DocumentModel
import StrictJSON

extension VectorSearch {
    private static let fields: [ProtoField] = [
        "vectorField", "queryVector", "distanceMeasure", "limit", "distanceResultField", "distanceThreshold",
    ]

    /// Decodes a `findNearest`.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let vector = try message.read("queryVector") { node throws(StatusError) in
            guard case .vector(let vector) = try Value(node, in: database) else {
                throw StatusError(
                    .invalidArgument,
                    "Expected a vector: a mapValue with the fields __type__ (\"__vector__\") and value."
                )
            }
            return vector
        }
        let measure: Measure? = try message.read("distanceMeasure") { node throws(StatusError) in
            try node.enumerationField([(1, "EUCLIDEAN", .euclidean), (2, "COSINE", .cosine), (3, "DOT_PRODUCT", .dotProduct)])
        }
        guard let vector, let measure,
            let limit = try message.read("limit", { node throws(StatusError) in try node.countField() })
        else { throw StatusError(.invalidArgument, "vectorField, queryVector, distanceMeasure and limit are required.") }
        self.init(
            field: try message.field("vectorField"),
            vector: vector,
            measure: measure,
            limit: limit,
            distanceField: try message.read("distanceResultField") { node throws(StatusError) in
                let text = try node.stringField()
                return text.utf8.isEmpty ? nil : try FieldPath(text)
            } ?? nil,
            threshold: try message.read("distanceThreshold") { node throws(StatusError) in try node.doubleField() }
        )
    }
}
