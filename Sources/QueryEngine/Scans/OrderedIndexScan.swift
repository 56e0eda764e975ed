internal import DocumentModel
internal import DocumentStore

/// A scan of an index that is in the order of a query, so that it can stop as soon as there are enough results.
struct OrderedIndexScan: Sendable {
    /// The field by whose values the scan is ordered; `nil` for a scan by document name.
    let field: FieldPath?
    /// The ranges of values, sorted.
    private(set) var ranges: [ValueKeyRange]
    /// The range of document names.
    private(set) var names: Range<NameBound>
    /// The position after which the scan starts.
    private(set) var after: IndexScan.Position?
    let isDescending: Bool
    /// True if results with equal values must be sorted.
    let mustSortEqualValues: Bool
    /// The fields whose predicates the scan covers.
    let fields: Set<FieldPath>
    /// True if the rows are exactly those between the query's cursors, unless their values are truncated.
    private(set) var coversCursors = true
    /// The composite index; `nil` for a single-field index.
    private let composite: CompositeIndexScan?

    /// True if a composite index is scanned.
    var isComposite: Bool { composite != nil }

    /// Creates a scan; `nil` if no index is in the order of the query.
    init?(_ query: NormalizedQuery, _ disjuncts: [FilterDisjunct], _ mapping: NameKeyMapping, _ policy: IndexingPolicy) {
        let constants = Self.constants(of: query)
        let indices = query.orders.indices.filter { constants[query.orders[$0].key.field] == nil }
        guard let first = indices.first, case .field(let orderField) = query.orders[first].key else { return nil }
        let order = query.orders[first]
        isDescending = order.direction == .descending
        names = disjuncts.count == 1 ? disjuncts[0].names : .allNames
        field = orderField.isDocumentName ? nil : orderField
        let orders = indices.map { query.orders[$0] }
        composite = field == nil || disjuncts.count != 1 ? nil : CompositeIndexScan(query, orders, policy)
        fields = composite?.fields ?? Set([field].compactMap { $0 })
        guard composite != nil || field.map(policy.isExempt) != true else { return nil }
        let next = orders.dropFirst(composite?.orderCount ?? 1).first
        if field == nil {
            mustSortEqualValues = false
            ranges = [.all]
        } else {
            let isReversed = composite?.isReversed ?? isDescending
            mustSortEqualValues = next?.key != .field(.documentName) || (next?.direction == .descending) != isReversed
            ranges = Self.ranges(of: orderField, disjuncts)
        }
        for (cursor, isStart) in [(query.start, true), (query.end, false)] {
            guard let cursor else { continue }
            guard cursor.values.count > first,
                (0..<first).allSatisfy({
                    constants[query.orders[$0].key.field]?.comparedInQueries(to: cursor.values[$0]) == .equal
                })
            else {
                coversCursors = false
                continue
            }
            let isLower = isStart != isDescending
            let isLast = cursor.values.count == first + 1
            if field == nil {
                clampNames(cursor.values[first], isLower: isLower, isInclusive: cursor.isInclusive || !isLast, mapping)
            } else {
                clampValues(cursor.values[first], isLower: isLower, isInclusive: cursor.isInclusive || !isLast)
                if isStart, composite == nil, !mustSortEqualValues, cursor.values.count == first + 2,
                    indices.dropFirst().first == first + 1
                {
                    start(at: cursor, first, mapping)
                }
                let isCovered = isLast || isStart && after != nil
                coversCursors = coversCursors && isCovered && !ValueKey(cursor.values[first]).isTruncated
            }
        }
    }

    /// Returns the fields that an equality predicate fixes, so that they don't affect the order.
    private static func constants(of query: NormalizedQuery) -> [FieldPath: Value] {
        guard query.filter.disjuncts.count == 1 else { return [:] }
        var constants: [FieldPath: Value] = [:]
        for predicate in query.filter.disjuncts[0] where !predicate.field.isDocumentName {
            if case .equals(let values) = predicate.test, values.sorted.count == 1 {
                constants[predicate.field] = values.sorted[0]
            }
        }
        return constants
    }

    /// Returns the values of a field that the filter permits.
    private static func ranges(of field: FieldPath, _ disjuncts: [FilterDisjunct]) -> [ValueKeyRange] {
        let lists = disjuncts.map { disjunct in
            disjunct.predicateScans.filter { $0.index == .values(of: field) }.reduce([ValueKeyRange.all]) {
                $0.intersection($1.ranges)
            }
        }
        return lists.count == 1 ? lists[0] : lists.flatMap { $0 }.merged()
    }

    private mutating func clampNames(_ value: Value, isLower: Bool, isInclusive: Bool, _ mapping: NameKeyMapping) {
        guard case .reference(let path) = value else {
            coversCursors = false
            return
        }
        let name = mapping.name(of: path)
        let bound = isLower == isInclusive ? name : name + [0]
        let range =
            isLower
            ? Range(from: bound, to: Range.allNames.upperBound.bytes) : Range(from: [], to: bound)
        names = names.clamped(to: range)
    }

    private mutating func clampValues(_ value: Value, isLower: Bool, isInclusive: Bool) {
        let key = ValueKey(value)
        let isInclusive = isInclusive || key.isTruncated
        let bound = isLower == isInclusive ? key.bytes : key.successor
        var range = ValueKeyRange.all
        if isLower { range.lower = bound } else { range.upper = bound }
        ranges = ranges.intersection([range])
    }

    /// Starts at the document of a cursor with a value and a name, instead of at the first document with the value.
    private mutating func start(at cursor: StructuredQuery.Cursor, _ first: Int, _ mapping: NameKeyMapping) {
        let key = ValueKey(cursor.values[first])
        guard !key.isTruncated, case .reference(let path) = cursor.values[first + 1] else { return }
        var name = mapping.name(of: path)
        if cursor.isInclusive {
            if isDescending {
                name.append(0)
            } else {
                // The position immediately before the document.
                guard name.last == 0 else { return }
                name.removeLast()
            }
        }
        after = IndexScan.Position(value: key.bytes, name: name)
    }
}

extension OrderedIndexScan {
    /// Returns whether all rows, or all that pass index probes, match an exact scan of a filter.
    func covers(_ scan: FieldScan) -> Bool {
        if let composite {
            guard scan.fields.isSubset(of: fields) else { return scan.isCoveredByProbes }
            if case .elements = scan.index { return false }
            return scan.isPointLookup && scan.ranges.count == 1 && scan.fields.isSubset(of: composite.prefixFields)
        }
        guard let field, scan.fields.isSubset(of: fields) else { return scan.isCoveredByProbes }
        return scan.index == .values(of: field)
    }

    /// True if the rows are in the ranges of values and not only near them.
    var isExact: Bool { !isComposite || ranges == [.all] }

    /// Returns the index scans, in sequence.
    func scans(_ target: IndexTarget) -> [IndexScan] {
        if let composite {
            var scan = IndexScan(target: target, index: .composite(composite.index), values: composite.range(of: ranges))
            scan.isDescending = composite.isReversed
            if names != .allNames { scan.names = names }
            return ranges.isEmpty ? [] : [scan]
        }
        let index = field.map { IndexScan.Index.values(of: $0) } ?? .documents
        return (isDescending ? ranges.reversed() : ranges).map { range in
            var scan = IndexScan(target: target, index: index, values: range, isDescending: isDescending, after: after)
            if names != .allNames { scan.names = names }
            return scan
        }
    }

    /// The plan line of the scan.
    var planText: String {
        if let composite { return "Scan composite index (\(composite.index.text)) in query order" }
        let direction = isDescending ? "descending" : "ascending"
        guard let field else { return "Scan documents by name \(direction)" }
        return switch ranges {
        case [.all]: "Scan index \(field) \(direction)"
        case _ where ranges.count == 1: "Scan a range of index \(field) \(direction)"
        default: "Scan \(ranges.count) ranges of index \(field) \(direction)"
        }
    }
}

/// A scan of a composite index that is in the order of a query, after leading fields that equality predicates fix.
struct CompositeIndexScan: Sendable {
    /// The fields of the index.
    let index: [IndexDefinition.Field]
    /// The number of the query's orders that the index covers.
    let orderCount: Int
    /// True if the index is scanned backward.
    let isReversed: Bool
    /// The leading fields that equality predicates fix.
    let prefixFields: Set<FieldPath>
    /// The key of the fixed leading fields.
    private let prefix: CompositeKey

    /// Selects the longest usable index; `nil` if there is none.
    ///
    /// - Parameter orders: The query's orders without fixed fields.
    init?(_ query: NormalizedQuery, _ orders: [StructuredQuery.Order], _ policy: IndexingPolicy) {
        guard !policy.composites.isEmpty, let predicates = query.filter.disjuncts.first else { return nil }
        let keys = FilterDisjunct.equalityKeys(predicates)
        for index in policy.composites.longestFirst {
            let (prefix, count) = CompositeKey.prefix(of: index, keys)
            let rest = index[count...]
            guard !rest.isEmpty, rest.count <= orders.count, !prefix.isTruncated,
                zip(rest, orders).allSatisfy({ StructuredQuery.Order.Key.field($0.field) == $1.key }),
                let first = rest.first, let order = orders.first
            else { continue }
            let isReversed = first.direction != order.direction
            guard zip(rest, orders).allSatisfy({ ($0.direction != $1.direction) == isReversed }) else { continue }
            self.index = index
            self.prefix = prefix
            prefixFields = Set(index[..<count].map(\.field))
            self.isReversed = isReversed
            orderCount = rest.count
            return
        }
        return nil
    }

    /// The fields whose predicates the scan covers.
    var fields: Set<FieldPath> { Set(index.map(\.field)) }

    /// Returns the hull of the keys with the first order's values in some ranges.
    func range(of ranges: [ValueKeyRange]) -> ValueKeyRange {
        prefix.followed(by: ranges.hull, index[index.count - orderCount].direction)
    }
}
