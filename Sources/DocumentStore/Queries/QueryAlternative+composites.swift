internal import DocumentModel

extension QueryAlternative {
    /// Takes indexes of several fields, the longest first: in the place of the single ones where all their fields have one
    /// value, and else beside them.
    ///
    /// - Parameter required: The fields that all documents of the result have. An index lacks the documents that lack any of its
    ///   fields.
    mutating func use(_ composites: Set<[IndexDefinition.Field]>, _ predicates: [Predicate], required: [FieldPath]) {
        guard !composites.isEmpty else { return }
        let keys = Self.equalities(predicates)
        let present = fields.union(required)
        for composite in composites.longestFirst where composite.allSatisfy({ present.contains($0.field) }) {
            let (key, count) = CompositeKey.prefix(of: composite, keys)
            guard count > 0, !key.isCut else { continue }
            if count == composite.count {
                let scan = FieldScan(composite, key, composite[...])
                if !scan.fields.isSubset(of: pointFields) { replaceScans(by: scan) }
            } else if let range = range(of: composite[count]) {
                add(FieldScan(composite, key, composite[...count], in: key.followed(by: range, composite[count].direction)))
            } else {
                add(FieldScan(composite, key, composite[..<count]))
            }
        }
    }

    /// The fields of the indexes of several that are taken in the place of single ones.
    private var pointFields: Set<FieldPath> {
        scans.reduce(into: []) { fields, scan in
            if case .composite = scan.subject { fields.formUnion(scan.fields) }
        }
    }

    /// The fields of all indexes of several that are taken.
    var compositeFields: Set<FieldPath> { compositeScans.reduce(pointFields) { $0.union($1.fields) } }

    /// The keys of the fields that have one value.
    static func equalities(_ predicates: [Predicate]) -> [FieldPath: ValueKey] {
        var keys: [FieldPath: ValueKey] = [:]
        for predicate in predicates where !predicate.field.isDocumentName {
            guard case .equals(let values) = predicate.test, values.sorted.count == 1, keys[predicate.field] == nil else {
                continue
            }
            let key = ValueKey(values.sorted[0])
            if !key.isCut { keys[predicate.field] = key }
        }
        return keys
    }

    /// What the predicates leave of a field's values, from the first to the last; nil when they don't concern it.
    private func range(of field: IndexDefinition.Field) -> ValueKeyRange? {
        let ranges = told.filter { $0.subject == .values(of: field.field) }.map(\.ranges)
        guard !ranges.isEmpty else { return nil }
        return ranges.reduce([.all]) { $0.intersection($1) }.hull
    }
}

extension CompositeKey {
    /// The key of the first fields of an index that have one value, and how many these are.
    static func prefix(of composite: [IndexDefinition.Field], _ keys: [FieldPath: ValueKey]) -> (key: CompositeKey, count: Int) {
        var prefix = CompositeKey()
        var count = 0
        for field in composite {
            guard let key = keys[field.field] else { break }
            prefix.append(key.bytes, field.direction)
            count += 1
        }
        return (prefix, count)
    }
}

extension Set<[IndexDefinition.Field]> {
    /// The indexes in an order that is always the same, those with the most fields first.
    var longestFirst: [[IndexDefinition.Field]] {
        sorted { left, right in
            left.count == right.count ? left.text.utf8.lexicographicallyPrecedes(right.text.utf8) : left.count > right.count
        }
    }
}

extension [ValueKeyRange] {
    /// From the beginning of the first to the end of the last; an empty range when there is none.
    var hull: ValueKeyRange {
        guard let first, let last else { return ValueKeyRange(lower: [], upper: []) }
        return ValueKeyRange(lower: first.lower, upper: last.upper)
    }
}
