internal import DocumentModel

extension Query {
    /// Of the documents that the query finds, those whose vector in a field is closest to another, closest first.
    ///
    /// Documents without a vector of as many dimensions are left out. Such a query can't be listened to.
    ///
    /// - Parameters:
    ///   - limit: How many documents at most: 1 to 1,000.
    ///   - distanceField: The field of the result that is to hold the distance; none when nil.
    ///   - distanceThreshold: The largest distance that a document may have; the smallest for ``DistanceMeasure/dotProduct``.
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

/// How close vectors are to each other.
public enum DistanceMeasure: Hashable, Sendable {
    /// The length of their difference; the least comes first.
    case euclidean
    /// 1 less the cosine of the angle between them; the least comes first.
    case cosine
    /// Their dot product; the greatest comes first.
    case dotProduct

    fileprivate var measure: VectorSearch.Measure {
        switch self {
        case .euclidean: .euclidean
        case .cosine: .cosine
        case .dotProduct: .dotProduct
        }
    }
}
