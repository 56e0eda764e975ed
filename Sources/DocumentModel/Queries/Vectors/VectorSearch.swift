/// A search for the documents whose vector in a field comes closest to a given one.
///
/// It takes the documents that the rest of the query gives, its limit included, leaves out those without a vector of as many
/// dimensions, and sorts by distance instead of the query's orders.
package struct VectorSearch: Hashable, Sendable {
    /// The field with the documents' vectors.
    package var field: FieldPath
    /// The vector to come close to.
    package var vector: [Double]
    /// How closeness is measured.
    package var measure: Measure
    /// How many documents there may be: 1 to ``maximumLimit``.
    package var limit: Int
    /// The field of the result that is to hold the distance; none when nil.
    package var distanceField: FieldPath?
    /// The distance that a document may have at most (at least, for ``Measure/dotProduct``); any when nil.
    package var threshold: Double?

    /// The largest limit.
    package static let maximumLimit = 1_000

    /// Makes a search; ``NormalizedQuery`` checks it.
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

    /// How closeness is measured.
    package enum Measure: String, Hashable, Sendable, CaseIterable {
        /// The length of the difference; the least comes first.
        case euclidean
        /// 1 less the cosine of the angle: 0 in the same direction, 1 at a right angle, 2 opposite. The least comes first.
        case cosine
        /// The dot product; the greatest comes first.
        case dotProduct
    }
}
