import DocumentModel
import HearthAPI

/// The types of a field's values in a collection, counted using the index.
struct FieldTypeCounts: Sendable {
    /// The number of documents whose field has a type.
    struct Count: Sendable {
        let type: IndexedType
        let count: BoundedCount
        /// True if the type is not the predominant one of the field.
        var isRare = false
    }

    let field: FieldPath
    /// The counts in descending order; `nil` for a field exempted from indexing.
    let counts: [Count]?

    /// Counts the types of a field's values.
    init(of field: FieldPath, in collection: CollectionPath, context: ServiceContext) async {
        self.field = field
        var counts: [Count] = []
        for type in IndexedType.allCases {
            guard let query = Self.query(for: type, of: field, in: collection),
                let count = await BoundedCount(query, atMost: Self.limit, in: context)
            else {
                self.counts = nil
                return
            }
            if count.value > 0 { counts.append(Count(type: type, count: count)) }
        }
        counts.sort { $0.count.value > $1.count.value }
        // Null means an absent value, so it is neither predominant nor unusual.
        let predominant = counts.first { $0.type != .null }
        for index in counts.indices {
            let (type, count) = (counts[index].type, counts[index].count)
            counts[index].isRare = type != .null && type != predominant?.type && !count.isLowerBound
        }
        self.counts = counts
    }

    /// Returns the query for documents whose field has a type.
    static func query(
        for type: IndexedType,
        of field: FieldPath,
        in collection: CollectionPath,
        limit: Int? = nil
    ) -> NormalizedQuery? {
        let condition: Condition =
            switch type.condition {
            case (.equal, let value): .equal(value)
            case (_, let value): .greaterOrEqual(value)
            }
        let query = StructuredQuery(.collection(collection), where: .field(field, condition), limit: limit.map { .first($0) })
        return try? NormalizedQuery(query)
    }

    private static let limit = 1_000
}
