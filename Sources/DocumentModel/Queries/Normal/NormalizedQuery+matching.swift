extension NormalizedQuery {
    /// Where a document stands in the order of a query: a value for each order, a reference for the name.
    package struct SortKey: Hashable, Sendable {
        /// The values in the order of ``NormalizedQuery/orders``.
        package let values: [Value]
    }

    /// Where a document stands if the query finds it; nil if it doesn't.
    ///
    /// Looks at filter, required fields and cursors. That the document is in the ``source`` is the caller's to know, and
    /// offset, limit and vector search concern all documents together.
    package func match(_ fields: MapValue, at path: DocumentPath) -> SortKey? {
        guard filter.matches(fields, at: path), unsortedFields.allSatisfy({ fields[$0] != nil }),
            let key = sortKey(of: fields, at: path), isBetweenCursors(key)
        else { return nil }
        return key
    }

    /// Where a document stands in the order; nil for one that lacks something of it.
    package func sortKey(of fields: MapValue, at path: DocumentPath) -> SortKey? {
        var values: [Value] = []
        values.reserveCapacity(orders.count)
        for order in orders {
            guard let value = order.key.value(of: fields, at: path) else { return nil }
            values.append(value)
        }
        return SortKey(values: values)
    }

    /// How two documents stand to each other in the order.
    package func compare(_ left: SortKey, _ right: SortKey) -> Comparison {
        compare(left, to: right.values)
    }

    /// Whether a document stands where the cursors let the result be.
    package func isBetweenCursors(_ key: SortKey) -> Bool {
        isAdmitted(key, by: start, on: .greater) && isAdmitted(key, by: end, on: .less)
    }

    private func isAdmitted(_ key: SortKey, by cursor: Query.Cursor?, on side: Comparison) -> Bool {
        guard let cursor else { return true }
        let comparison = compare(key, to: cursor.values)
        return comparison == side || (comparison == .equal && cursor.isInclusive)
    }

    /// How a document stands to values for the first of the orders.
    private func compare(_ key: SortKey, to values: [Value]) -> Comparison {
        for (index, value) in values.enumerated() {
            let comparison = key.values[index].comparedInQueries(to: value)
            guard comparison == .equal else {
                return orders[index].direction == .ascending ? comparison : comparison.reversed
            }
        }
        return .equal
    }
}

extension Query.Order.Key {
    /// What of a document is compared; nil when it has no such thing.
    fileprivate func value(of fields: MapValue, at path: DocumentPath) -> Value? {
        switch self {
        case .field(let field):
            return fields.value(of: field, ofDocumentAt: path)
        case .distance(let field, let center):
            guard case .geoPoint(let point)? = fields[field] else { return nil }
            return .double(center.distance(to: point))
        }
    }
}
