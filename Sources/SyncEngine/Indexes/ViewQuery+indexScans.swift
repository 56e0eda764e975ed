internal import DocumentModel

extension ViewQuery {
    /// The maximum number of scans for a query.
    private static let maximumScanCount = 30

    /// The scans of indexes that find all matching documents together, each in the order of the query; `nil` if a scan of all documents
    /// is as good.
    ///
    /// An index begins with the fields that the query compares for equality, and goes on with the orders. Each combination of values
    /// in each disjunct of the filter is a scan.
    var indexScans: [IndexScan]? {
        guard case .query = target else { return nil }
        var scans: [IndexScan] = []
        for predicates in normalized.filter.disjuncts {
            guard let added = indexScans(for: predicates) else { return nil }
            scans += added
            guard scans.count <= Self.maximumScanCount else { return nil }
        }
        return scans.isEmpty ? nil : scans
    }

    private func indexScans(for predicates: [Predicate]) -> [IndexScan]? {
        var equalities: [FieldPath: ValueSet] = [:]
        for predicate in predicates where predicate.field != .documentName {
            if case .equals(let values) = predicate.test { equalities[predicate.field] = values }
        }
        let equalFields = equalities.keys.sorted()
        let orders = normalized.orders.filter { equalities[$0.key.field] == nil }
        // Queries in opposite orders share an index.
        let isReversed = orders.first?.direction == .descending
        let sorted = orders.map { order in
            StructuredQuery.Order(order.key, (order.direction == .descending) == isReversed ? .ascending : .descending)
        }
        let equal = equalFields.map { StructuredQuery.Order(.field($0)) }
        guard let index = FieldIndex(normalized.source, orders: equal + sorted),
            let tail = range(of: sorted, for: predicates, isReversed: isReversed)
        else { return nil }
        if equalities.isEmpty, tail == .allOrdered {
            // The order alone helps if the first documents are those of the result.
            guard targetLimit != nil, predicates.isEmpty else { return nil }
        }
        var prefixes: [[UInt8]] = [[]]
        for field in equalFields {
            let keys = (equalities[field]?.sorted ?? []).map { ValueKey($0) }
            guard keys.count * prefixes.count <= Self.maximumScanCount, !keys.contains(where: \.isTruncated) else { return nil }
            prefixes = prefixes.flatMap { prefix in keys.map { prefix + $0.bytes } }
        }
        return prefixes.map { prefix in
            IndexScan(index, ValueKeyRange(lower: prefix + tail.lower, upper: prefix + tail.upper), isReversed: isReversed)
        }
    }

    /// Returns the range of keys in the index to which the filter on the first order and the cursors lead; `nil` if a value is too long
    /// for a key.
    private func range(
        of orders: [StructuredQuery.Order],
        for predicates: [Predicate],
        isReversed: Bool
    ) -> ValueKeyRange? {
        var range = ValueKeyRange.allOrdered
        for predicate in predicates where predicate.field == orders.first?.key.field && predicate.field != .documentName {
            guard case .range(let values) = predicate.test else { continue }
            guard let keys = ValueKeyRange(values) else { return nil }
            range = range.intersection(keys)
        }
        // The values of cursors belong to all orders of the query.
        guard orders.count == normalized.orders.count else { return range }
        let (from, to) = isReversed ? (normalized.end, normalized.start) : (normalized.start, normalized.end)
        if let from, let key = key(of: from, orders) {
            range = range.intersection(ValueKeyRange(lower: from.isInclusive ? key : key + [0xff], upper: FieldIndex.upperBound))
        }
        if let to, let key = key(of: to, orders) {
            range = range.intersection(ValueKeyRange(lower: FieldIndex.lowerBound, upper: to.isInclusive ? key + [0xff] : key))
        }
        return range
    }

    /// Returns the beginning of a key for the values of a cursor; `nil` if they say nothing of the position in the index.
    private func key(of cursor: StructuredQuery.Cursor, _ orders: [StructuredQuery.Order]) -> [UInt8]? {
        var key: [UInt8] = []
        for (order, value) in zip(orders, cursor.values) {
            if order.isByName {
                guard case .reference(let path) = value else { return nil }
                if case .collection(let collection) = normalized.source, path.collection != collection { return nil }
                key.append(path.nameKey(in: normalized.source), order.direction)
            } else {
                let encoded = ValueKey(value)
                guard !encoded.isTruncated else { return nil }
                key.append(encoded.bytes, order.direction)
            }
        }
        return key
    }
}

extension ValueKeyRange {
    /// The range of all keys that tell the order.
    fileprivate static let allOrdered = ValueKeyRange(lower: FieldIndex.lowerBound, upper: FieldIndex.upperBound)

    /// Creates the range of the keys that begin with a value in a range; `nil` if a bound is too long for a key.
    fileprivate init?(_ values: ValueRange) {
        let bounds = [values.lower, values.upper].compactMap(\.self).map { ValueKey($0.value) }
        guard let bracket = (values.upper ?? values.lower).map({ TypeBracket(of: $0.value) }),
            !bounds.contains(where: \.isTruncated)
        else { return nil }
        self.init(lower: [bracket.firstByte], upper: [bracket.firstByte + 1])
        if let lower = values.lower {
            let key = ValueKey(lower.value).bytes
            self.lower = lower.isInclusive ? key : key + [0xff]
        }
        if let upper = values.upper {
            let key = ValueKey(upper.value).bytes
            self.upper = upper.isInclusive ? key + [0xff] : key
        }
    }
}
