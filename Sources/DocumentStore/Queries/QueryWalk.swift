internal import DocumentModel

/// A run through the index in the order of a query: it can end as soon as there are enough documents.
struct QueryWalk: Sendable {
    /// The field whose values are run through; nil for the names of the documents.
    let field: FieldPath?
    /// The values, in their order.
    private(set) var ranges: [ValueKeyRange]
    /// The names.
    private(set) var names: Range<NameBound>
    /// Where it begins within the ranges.
    private(set) var after: IndexScan.Position?
    let isDescending: Bool
    /// Whether documents with equal values are still to be sorted among each other.
    let sortsEqualValues: Bool
    /// The fields that the walk tells of: the one that it runs through, those before it that have one value, and those behind it.
    let fields: Set<FieldPath>
    /// The index of several fields that is run through; nil for that of one.
    private let composite: CompositeWalk?

    /// Whether an index of several fields is run through.
    var isComposite: Bool { composite != nil }

    /// Nil when the index is in no such order.
    init?(_ query: NormalizedQuery, _ alternatives: [QueryAlternative], _ queryNames: QueryNames, _ rules: IndexRules) {
        let constants = Self.constants(of: query)
        let indices = query.orders.indices.filter { constants[query.orders[$0].key.field] == nil }
        guard let first = indices.first, case .field(let orderField) = query.orders[first].key else { return nil }
        let order = query.orders[first]
        isDescending = order.direction == .descending
        names = alternatives.count == 1 ? alternatives[0].names : .allNames
        field = orderField.isDocumentName ? nil : orderField
        let orders = indices.map { query.orders[$0] }
        composite = field == nil || alternatives.count != 1 ? nil : CompositeWalk(query, orders, rules)
        fields = composite?.fields ?? Set([field].compactMap { $0 })
        guard composite != nil || field.map(rules.isExempt) != true else { return nil }
        let next = orders.dropFirst(composite?.orderCount ?? 1).first
        if field == nil {
            sortsEqualValues = false
            ranges = [.all]
        } else {
            let isReversed = composite?.isReversed ?? isDescending
            sortsEqualValues = next?.key != .field(.documentName) || (next?.direction == .descending) != isReversed
            ranges = Self.ranges(of: orderField, alternatives)
        }
        for (cursor, isStart) in [(query.start, true), (query.end, false)] {
            guard let cursor, cursor.values.count > first,
                (0..<first).allSatisfy({
                    constants[query.orders[$0].key.field]?.comparedInQueries(to: cursor.values[$0]) == .equal
                })
            else { continue }
            let isLower = isStart != isDescending
            let isLast = cursor.values.count == first + 1
            if field == nil {
                clampNames(cursor.values[first], isLower: isLower, isInclusive: cursor.isInclusive || !isLast, queryNames)
            } else {
                clampValues(cursor.values[first], isLower: isLower, isInclusive: cursor.isInclusive || !isLast)
                if isStart, composite == nil, !sortsEqualValues, cursor.values.count == first + 2,
                    indices.dropFirst().first == first + 1
                {
                    begin(at: cursor, first, queryNames)
                }
            }
        }
    }

    /// The fields that have the same value in all documents of the result, so that it does not matter for the order.
    private static func constants(of query: NormalizedQuery) -> [FieldPath: Value] {
        guard query.filter.alternatives.count == 1 else { return [:] }
        var constants: [FieldPath: Value] = [:]
        for predicate in query.filter.alternatives[0] where !predicate.field.isDocumentName {
            if case .equals(let values) = predicate.test, values.sorted.count == 1 {
                constants[predicate.field] = values.sorted[0]
            }
        }
        return constants
    }

    /// What the alternatives leave of a field's values.
    private static func ranges(of field: FieldPath, _ alternatives: [QueryAlternative]) -> [ValueKeyRange] {
        let lists = alternatives.map { alternative in
            alternative.told.filter { $0.subject == .values(of: field) }.reduce([ValueKeyRange.all]) {
                $0.intersection($1.ranges)
            }
        }
        return lists.count == 1 ? lists[0] : lists.flatMap { $0 }.merged()
    }

    private mutating func clampNames(_ value: Value, isLower: Bool, isInclusive: Bool, _ queryNames: QueryNames) {
        guard case .reference(let path) = value else { return }
        let place = queryNames.place(of: path)
        let bound = isLower == isInclusive ? place : place + [0]
        let range =
            isLower
            ? Range(from: bound, to: Range.allNames.upperBound.bytes) : Range(from: [], to: bound)
        names = names.clamped(to: range)
    }

    private mutating func clampValues(_ value: Value, isLower: Bool, isInclusive: Bool) {
        let key = ValueKey(value)
        let isInclusive = isInclusive || key.isCut
        let bound = isLower == isInclusive ? key.bytes : key.firstBehind
        var range = ValueKeyRange.all
        if isLower { range.lower = bound } else { range.upper = bound }
        ranges = ranges.intersection([range])
    }

    /// Begins with the document at, or behind, a cursor of a value and a name, and not with the first that has the value.
    private mutating func begin(at cursor: Query.Cursor, _ first: Int, _ queryNames: QueryNames) {
        let key = ValueKey(cursor.values[first])
        guard !key.isCut, case .reference(let path) = cursor.values[first + 1] else { return }
        var name = queryNames.place(of: path)
        if cursor.isInclusive {
            if isDescending {
                name.append(0)
            } else {
                // The position right before it.
                guard name.last == 0 else { return }
                name.removeLast()
            }
        }
        after = IndexScan.Position(value: key.bytes, name: name)
    }
}

extension QueryWalk {
    /// The scans, one after the other.
    func scans(_ target: IndexTarget) -> [IndexScan] {
        if let composite {
            var scan = IndexScan(target: target, subject: .composite(composite.index), values: composite.range(of: ranges))
            scan.isDescending = composite.isReversed
            if names != .allNames { scan.names = names }
            return ranges.isEmpty ? [] : [scan]
        }
        let subject = field.map { IndexScan.Subject.values(of: $0) } ?? .documents
        return (isDescending ? ranges.reversed() : ranges).map { range in
            var scan = IndexScan(target: target, subject: subject, values: range, isDescending: isDescending, after: after)
            if names != .allNames { scan.names = names }
            return scan
        }
    }

    /// The walk, for people.
    var text: String {
        let direction = isDescending ? "from the greatest down" : "from the least up"
        if let composite { return "Run through the index of \(composite.index.text), in the order of the query" }
        guard let field else { return "Run through the documents by name, \(direction)" }
        let part =
            ranges == [.all] ? "all values" : ranges.count == 1 ? "a range of the values" : "\(ranges.count) ranges of the values"
        return "Run through \(part) of \(field), \(direction)"
    }
}
