extension NormalizedQuery {
    /// The sort key of a document: a value for each order, with a reference for the document name.
    package struct SortKey: Hashable, Sendable {
        /// The values in the order of ``NormalizedQuery/orders``.
        package let values: [Value]
    }

    /// Returns the sort key of a document that matches the query, or `nil` if it doesn't match.
    ///
    /// Evaluates the filter, the required fields and the cursors. The caller must check the ``source``, and apply offset, limit
    /// and vector search to the result as a whole.
    package func match(_ fields: MapValue, at path: DocumentPath) -> SortKey? {
        guard filter.matches(fields, at: path), unsortedFields.allSatisfy({ fields[$0] != nil }),
            let key = sortKey(of: fields, at: path), isBetweenCursors(key)
        else { return nil }
        return key
    }

    /// Returns the sort key of a document, or `nil` if it lacks a field of the orders.
    package func sortKey(of fields: MapValue, at path: DocumentPath) -> SortKey? {
        var values: [Value] = []
        values.reserveCapacity(orders.count)
        for order in orders {
            guard let value = order.key.value(of: fields, at: path) else { return nil }
            values.append(value)
        }
        return SortKey(values: values)
    }

    /// Compares two documents in the order of the query.
    package func compare(_ left: SortKey, _ right: SortKey) -> Comparison {
        compare(left, to: right.values)
    }

    /// Returns whether a sort key is between the cursors.
    package func isBetweenCursors(_ key: SortKey) -> Bool {
        isWithin(key, start, on: .greater) && isWithin(key, end, on: .less)
    }

    private func isWithin(_ key: SortKey, _ cursor: StructuredQuery.Cursor?, on side: Comparison) -> Bool {
        guard let cursor else { return true }
        let comparison = compare(key, to: cursor.values)
        return comparison == side || (comparison == .equal && cursor.isInclusive)
    }

    /// Compares a sort key with values for a prefix of the orders.
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

extension StructuredQuery.Order.Key {
    /// Returns the value of the key in a document, or `nil` if there is none.
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
