internal import DocumentModel
internal import DocumentStore

/// The index scans that are available for one disjunct of a filter in disjunctive normal form.
struct FilterDisjunct: Sendable {
    /// The scans for the predicates, at most one for each.
    private(set) var scans: [FieldScan] = []
    /// Additional scans of composite indexes that are not in ``scans``.
    private(set) var compositeScans: [FieldScan] = []
    /// The scans for the predicates, including those on exempted fields.
    private(set) var predicateScans: [FieldScan] = []
    /// The fields of the predicates, without the document name.
    private(set) var fields: Set<FieldPath> = []
    /// The scans for predicates on geo points.
    private(set) var geoScans: [GeoScan] = []
    /// The range of document names that the predicates permit.
    private(set) var names = Range<NameBound>.allNames
    /// The only documents that can match, sorted; `nil` without such a restriction.
    private(set) var documents: [DocumentPath]?
    /// True if every document in all ``scans`` and in ``names`` matches all predicates.
    private(set) var isExact = true

    init(_ predicates: [Predicate], of query: NormalizedQuery, _ mapping: NameKeyMapping, _ policy: IndexingPolicy) {
        let source = query.source
        for predicate in predicates {
            if !predicate.field.isDocumentName { fields.insert(predicate.field) }
            switch predicate.test {
            case .near(let circle):
                append(GeoScan(predicate.field, circle.boundingBox, circle: circle), policy)
            case .within(let box):
                append(GeoScan(predicate.field, box), policy)
            case .range(let range) where predicate.field.isDocumentName:
                names = names.clamped(to: mapping.range(range))
            case .equals(let values) where predicate.field.isDocumentName:
                let paths = values.sorted.compactMap { value -> DocumentPath? in
                    if case .reference(let path) = value, source.contains(path) { path } else { nil }
                }
                documents = documents.map { known in known.filter { paths.contains($0) } } ?? paths
                isExact = false
            default:
                guard let scan = FieldScan(predicate) else {
                    isExact = false
                    continue
                }
                predicateScans.append(scan)
                isExact = isExact && scan.isExact && !policy.isExempt(predicate.field)
                if !policy.isExempt(predicate.field) { scans.append(scan) }
            }
        }
        useComposites(policy.composites, predicates, required: query.requiredFields)
    }

    /// The scans that return documents in name order.
    var pointLookups: [FieldScan] { scans.filter(\.isPointLookup) }

    private mutating func append(_ scan: GeoScan, _ policy: IndexingPolicy) {
        isExact = false
        if !policy.isExempt(scan.field) { geoScans.append(scan) }
    }
}

extension FilterDisjunct {
    /// Adds scans of composite indexes, longest first. An index with equality predicates on all fields replaces their single-field
    /// scans; any other is an additional access path.
    ///
    /// - Parameter required: The fields that all documents of the result have. An index does not contain documents that lack one of
    ///   its fields.
    private mutating func useComposites(
        _ composites: Set<[IndexDefinition.Field]>,
        _ predicates: [Predicate],
        required: [FieldPath]
    ) {
        guard !composites.isEmpty else { return }
        let keys = Self.equalityKeys(predicates)
        let present = fields.union(required)
        for composite in composites.longestFirst where composite.allSatisfy({ present.contains($0.field) }) {
            let (key, count) = CompositeKey.prefix(of: composite, keys)
            guard count > 0, !key.isTruncated else { continue }
            if count == composite.count {
                let scan = FieldScan(composite, key, covering: composite[...])
                if !scan.fields.isSubset(of: compositeLookupFields) { replaceScans(by: scan) }
            } else if let range = range(of: composite[count]) {
                let keys = key.followed(by: range, composite[count].direction)
                compositeScans.append(FieldScan(composite, key, covering: composite[...count], in: keys))
            } else {
                compositeScans.append(FieldScan(composite, key, covering: composite[..<count]))
            }
        }
    }

    /// Replaces the single-field point lookups that a scan covers.
    private mutating func replaceScans(by scan: FieldScan) {
        scans.removeAll { old in
            if case .values(let field) = old.index { scan.fields.contains(field) && old.isPointLookup } else { false }
        }
        scans.append(scan)
    }

    /// The fields of composite indexes that replace single-field scans.
    private var compositeLookupFields: Set<FieldPath> {
        scans.reduce(into: []) { fields, scan in
            if case .composite = scan.index { fields.formUnion(scan.fields) }
        }
    }

    /// The fields that scans of composite indexes cover.
    var compositeFilterFields: Set<FieldPath> { compositeScans.reduce(compositeLookupFields) { $0.union($1.fields) } }

    /// Returns the keys of the fields that an equality predicate fixes.
    static func equalityKeys(_ predicates: [Predicate]) -> [FieldPath: ValueKey] {
        var keys: [FieldPath: ValueKey] = [:]
        for predicate in predicates where !predicate.field.isDocumentName {
            guard case .equals(let values) = predicate.test, values.sorted.count == 1, keys[predicate.field] == nil else {
                continue
            }
            let key = ValueKey(values.sorted[0])
            if !key.isTruncated { keys[predicate.field] = key }
        }
        return keys
    }

    /// Returns the hull of the values of a field that the predicates permit; `nil` without a predicate on the field.
    private func range(of field: IndexDefinition.Field) -> ValueKeyRange? {
        let ranges = predicateScans.filter { $0.index == .values(of: field.field) }.map(\.ranges)
        guard !ranges.isEmpty else { return nil }
        return ranges.reduce([.all]) { $0.intersection($1) }.hull
    }
}

extension CompositeKey {
    /// Returns the key of the leading fields of an index that have equality predicates, and the number of these fields.
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
    /// The indexes in a deterministic order, those with the most fields first.
    var longestFirst: [[IndexDefinition.Field]] {
        sorted { left, right in
            left.count == right.count ? left.text.utf8.lexicographicallyPrecedes(right.text.utf8) : left.count > right.count
        }
    }
}
