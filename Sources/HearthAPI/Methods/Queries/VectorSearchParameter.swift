import DocumentModel
import HearthWire
import JSONRPC
import StrictJSON
import UTF8Text

/// A nearest-neighbor search of vectors: `{field, vector, measure, limit, distanceResultField?, distanceThreshold?}`.
struct VectorSearchParameter: ObjectParameter {
    let search: VectorSearch

    static let schemaName = "VectorSearch"
    static let field = Parameter<FieldPath>(VectorSearchKeys.field, "The field with the vectors.")
    static let vector = Parameter<Vector>(VectorSearchKeys.vector, "The query vector: {\"$vector\": […]}.")
    static let measure = Parameter<Measure>(VectorSearchKeys.measure, "The distance measure.")
    static let limit = Parameter<Int>(
        VectorSearchKeys.limit,
        "The maximum number of documents, 1 to \(VectorSearch.maximumLimit)."
    )
    static let distanceResultField = Parameter<FieldPath?>(
        VectorSearchKeys.distanceResultField,
        "The field of the result in which the distance is returned."
    )
    static let distanceThreshold = Parameter<NumberParameter?>(
        VectorSearchKeys.distanceThreshold,
        "The maximum distance; for dotProduct, the minimum."
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

    /// A vector value.
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

    /// A distance measure, by name.
    struct Measure: ParameterValue {
        let measure: VectorSearch.Measure

        static var schema: JSONSchema { .string(values: VectorSearch.Measure.allCases.map(\.rawValue)) }

        init(json: JSONNode, at location: ParameterLocation) throws(RPCError) {
            measure = try location.parseName(json, among: VectorSearch.Measure.allCases)
        }
    }
}
