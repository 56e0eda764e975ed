internal import DocumentModel

extension Query {
    /// Adds a nearest-neighbor search: returns the documents whose vectors are closest to a query vector, closest first.
    ///
    /// Documents without a vector of the same dimension are excluded. The query cannot be listened to.
    ///
    /// - Parameters:
    ///   - limit: The maximum number of documents, from 1 to 1,000.
    ///   - distanceField: The field of the result to store the distance in; `nil` for none.
    ///   - distanceThreshold: The maximum distance; the minimum for ``DistanceMeasure/dotProduct``.
    public func findNearest(
        field: String,
        vectorValue: VectorValue,
        distanceMeasure: DistanceMeasure,
        limit: Int,
        distanceField: String? = nil,
        distanceThreshold: Double? = nil
    ) -> Query {
        changed { query throws(StatusError) in
            query.vectorSearch = VectorSearch(
                field: try FieldPath(dotted: field),
                vector: vectorValue.array,
                measure: distanceMeasure.measure,
                limit: limit,
                distanceField: try distanceField.map { field throws(StatusError) in try FieldPath(dotted: field) },
                threshold: distanceThreshold
            )
        }
    }
}

/// A measure of the distance between vectors.
public enum DistanceMeasure: Hashable, Sendable {
    /// The Euclidean distance; smaller is closer.
    case euclidean
    /// The cosine distance, 1 minus the cosine of the angle; smaller is closer.
    case cosine
    /// The dot product; greater is closer.
    case dotProduct

    fileprivate var measure: VectorSearch.Measure {
        switch self {
        case .euclidean: .euclidean
        case .cosine: .cosine
        case .dotProduct: .dotProduct
        }
    }
}
