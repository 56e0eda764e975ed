import DocumentModel
import JSONRPC
import StrictJSON

/// A search for the closest vectors: `{field, vector, measure, limit, distanceResultField?, distanceThreshold?}`.
struct VectorSearchParameter: ObjectParameter {
    let search: VectorSearch

    static let schemaName = "VectorSearch"
    static let field = Parameter<FieldPath>("field", "The field with the documents' vectors.")
    static let vector = Parameter<Vector>("vector", "The vector to come close to: {\"$vector\": […]}.")
    static let measure = Parameter<Measure>("measure", "How closeness is measured.")
    static let limit = Parameter<Int>("limit", "How many documents to give: 1 to \(VectorSearch.maximumLimit).")
    static let distanceResultField = Parameter<FieldPath?>(
        "distanceResultField",
        "The field of the result that is to hold the distance."
    )
    static let distanceThreshold = Parameter<NumberParameter?>(
        "distanceThreshold",
        "The largest distance that a document may have; the smallest for dotProduct."
    )
    static let members: [any ParameterDescription] = [field, vector, measure, limit, distanceResultField, distanceThreshold]

    init(from members: Arguments) throws(RPCError) {
        search = VectorSearch(
            field: try members[Self.field],
            vector: try members[Self.vector].elements,
            measure: try members[Self.measure].measure,
            limit: try members[Self.limit],
            distanceField: try members[Self.distanceResultField],
            threshold: try members[Self.distanceThreshold]?.number
        )
    }

    /// A vector as a value.
    struct Vector: ParameterValue {
        let elements: [Double]

        static var schema: JSONSchema { Value.schema }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            guard case .vector(let elements) = try Value(json: json, at: location) else {
                throw location.invalid("expected a vector, {\"$vector\": […]}", got: json)
            }
            self.elements = elements
        }
    }

    /// A measure by its name.
    struct Measure: ParameterValue {
        let measure: VectorSearch.Measure

        static var schema: JSONSchema { .string(values: VectorSearch.Measure.allCases.map(\.rawValue)) }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            measure = try location.choice(json, among: VectorSearch.Measure.allCases)
        }
    }
}
