import DocumentModel
import HearthService
import StrictJSON

/// The types of a field in a whole collection, as the index counts them.
struct FieldTypes: Sendable {
    /// A type, and how many documents have a value of it there.
    struct Count: Sendable {
        let type: IndexedType
        let count: CollectionCount
        /// Whether most documents have another type.
        var isRare = false
    }

    let field: FieldPath
    /// The commonest first; nil for a field that isn't indexed.
    let counts: [Count]?

    /// Counts the types of a field.
    init(of field: FieldPath, in collection: CollectionPath, context: ServiceContext) async {
        self.field = field
        var counts: [Count] = []
        for type in IndexedType.allCases {
            guard let query = Self.query(for: type, of: field, in: collection),
                let count = await CollectionCount(query, atMost: Self.limit, in: context)
            else {
                self.counts = nil
                return
            }
            if count.counted > 0 { counts.append(Count(type: type, count: count)) }
        }
        counts.sort { $0.count.counted > $1.count.counted }
        // Null says that there is nothing: it is no other type.
        let usual = counts.first { $0.type != .null }
        for index in counts.indices {
            let (type, count) = (counts[index].type, counts[index].count)
            counts[index].isRare = type != .null && type != usual?.type && !count.isBound
        }
        self.counts = counts
    }

    /// The documents whose field has a value of a type.
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
        let query = StoreQuery(.collection(collection), where: .field(field, condition), limit: limit.map { .first($0) })
        return try? NormalizedQuery(query)
    }

    private static let limit = 1_000
}
