/// A nearest-neighbor search: Firestore's `findNearest`.
///
/// It applies to the documents that the rest of the query returns, after its limit. It excludes those without a vector of the
/// same number of dimensions, and sorts by distance instead of the query's orders.
package struct VectorSearch: Hashable, Sendable {
    /// The field with the vectors.
    package var field: FieldPath
    /// The query vector.
    package var vector: [Double]
    /// The distance measure.
    package var measure: Measure
    /// The maximum number of documents, 1 to ``maximumLimit``.
    package var limit: Int
    /// The result field for the distance; `nil` for none.
    package var distanceField: FieldPath?
    /// The maximum distance (the minimum for ``Measure/dotProduct``); `nil` for no threshold.
    package var threshold: Double?

    /// The maximum value of ``limit``.
    package static let maximumLimit = 1_000

    /// Creates a search; ``NormalizedQuery`` validates it.
    package init(
        field: FieldPath,
        vector: [Double],
        measure: Measure,
        limit: Int,
        distanceField: FieldPath? = nil,
        threshold: Double? = nil
    ) {
        self.field = field
        self.vector = vector
        self.measure = measure
        self.limit = limit
        self.distanceField = distanceField
        self.threshold = threshold
    }

    /// A distance measure.
    package enum Measure: String, Hashable, Sendable, CaseIterable {
        /// The Euclidean distance; least first.
        case euclidean
        /// The cosine distance, 1 - cos of the angle: 0 for the same direction, 1 for a right angle, 2 for opposite directions;
        /// least first.
        case cosine
        /// The dot product; greatest first.
        case dotProduct
    }
}

extension VectorSearch {
    /// Validates the search.
    func validate() throws(StatusError) {
        let path = ParameterPath("findNearest")
        try path.member("field").locating { () throws(StatusError) in try field.validate() }
        guard (1...DocumentLimits.maximumVectorDimensions).contains(vector.count) else {
            throw path.member("vector").error(
                "Expected a vector of 1 to \(DocumentLimits.maximumVectorDimensions) dimensions, found \(vector.count)."
            )
        }
        guard vector.allSatisfy(\.isFinite) else {
            throw path.member("vector").error("Expected a vector of finite numbers, found NaN or an infinity.")
        }
        guard (1...Self.maximumLimit).contains(limit) else {
            throw path.member("limit").error("Expected a limit of 1 to \(Self.maximumLimit) documents, found \(limit).")
        }
        guard threshold?.isNaN != true else {
            throw path.member("distanceThreshold").error("Expected a number as the threshold, found NaN.")
        }
        try path.member("distanceResultField").locating { () throws(StatusError) in try distanceField?.validate() }
    }
}
