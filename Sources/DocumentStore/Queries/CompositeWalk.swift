internal import DocumentModel

/// An index of several fields that is in the order of a query, once the fields that have one value are left out.
struct CompositeWalk: Sendable {
    /// The index.
    let index: [IndexDefinition.Field]
    /// How many of the query's orders it is in.
    let orderCount: Int
    /// Whether it is run through from its end.
    let isReversed: Bool
    /// The key of the fields that have one value.
    private let prefix: CompositeKey

    /// The best there is; nil when there is none.
    ///
    /// - Parameter orders: The query's orders without the fields that have one value.
    init?(_ query: NormalizedQuery, _ orders: [Query.Order], _ rules: IndexRules) {
        guard !rules.composites.isEmpty, let predicates = query.filter.alternatives.first else { return nil }
        let keys = QueryAlternative.equalities(predicates)
        for index in rules.composites.longestFirst {
            let (prefix, count) = CompositeKey.prefix(of: index, keys)
            let rest = index[count...]
            guard !rest.isEmpty, rest.count <= orders.count, !prefix.isCut,
                zip(rest, orders).allSatisfy({ Query.Order.Key.field($0.field) == $1.key }),
                let first = rest.first, let order = orders.first
            else { continue }
            let isReversed = first.direction != order.direction
            guard zip(rest, orders).allSatisfy({ ($0.direction != $1.direction) == isReversed }) else { continue }
            self.index = index
            self.prefix = prefix
            self.isReversed = isReversed
            orderCount = rest.count
            return
        }
        return nil
    }

    /// The fields that it tells of.
    var fields: Set<FieldPath> { Set(index.map(\.field)) }

    /// The keys that have the first order's values in some ranges, from the first of these to the last.
    func range(of ranges: [ValueKeyRange]) -> ValueKeyRange {
        prefix.followed(by: ranges.hull, index[index.count - orderCount].direction)
    }
}
