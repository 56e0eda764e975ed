internal import DocumentModel
internal import UTF8Text

/// One disjunct of a query: what it tells about the documents that it finds.
struct QueryDisjunct: Sendable {
    /// The fields of the documents.
    private(set) var data = SymbolicMap()
    /// The only document that can be found; `nil` if there may be others.
    private(set) var document: DocumentPath?
}

extension QueryDisjunct {
    /// Returns the disjuncts of a query, in which `in` and `array-contains-any` are split, or `nil` if there are too many.
    static func disjuncts(of query: NormalizedQuery, in database: UTF8Key) -> [QueryDisjunct]? {
        var disjuncts: [QueryDisjunct] = []
        // A filter that no document can match proves nothing either.
        for predicates in query.filter.disjuncts.isEmpty ? [[]] : query.filter.disjuncts {
            var product: [[Predicate.Test.Single]] = [[]]
            for predicate in predicates {
                let singles = predicate.test.singles
                guard product.count * singles.count <= QueryFilter.maximumDisjunctCount else { return nil }
                product = product.flatMap { left in singles.map { left + [$0] } }
            }
            guard disjuncts.count + product.count <= QueryFilter.maximumDisjunctCount else { return nil }
            for tests in product { disjuncts.append(QueryDisjunct(query, zip(predicates.map(\.field), tests), in: database)) }
        }
        return disjuncts
    }

    private init(
        _ query: NormalizedQuery,
        _ tests: some Sequence<(FieldPath, Predicate.Test.Single)>,
        in database: UTF8Key
    ) {
        // Orders and aggregations drop documents without the field.
        for field in query.requiredFields { insert(.symbolic(SymbolicValue(type: nil)), at: field) }
        for case .distance(let field, _) in query.orders.map(\.key) { insert(.symbolic(SymbolicValue(type: .latlng)), at: field) }
        for (field, test) in tests {
            if field.isDocumentName {
                if case .equals(.reference(let path)) = test { document = path }
            } else {
                insert(test.value(in: database), at: field)
            }
        }
    }

    private mutating func insert(_ value: RuleValue, at field: FieldPath) {
        data.insert(value, at: field.segments[...])
    }
}

extension Predicate.Test {
    /// A test with a single value instead of a set, where one of several values suffices.
    fileprivate enum Single {
        case equals(Value)
        case contains(Value)
        case other(Predicate.Test)
    }

    fileprivate var singles: [Single] {
        switch self {
        case .equals(let values): values.sorted.map(Single.equals)
        case .contains(let values): values.sorted.map(Single.contains)
        case .differs, .range, .near, .within: [.other(self)]
        }
    }
}

extension Predicate.Test.Single {
    /// The constraint of the test on a field.
    fileprivate func value(in database: UTF8Key) -> RuleValue {
        switch self {
        case .equals(let constant):
            return constant.valueOfEqual(in: database)
        case .contains(let constant):
            let facts = constant.isDetermined ? [SymbolicValue.Fact.contains(RuleValue(constant, in: database))] : []
            return .symbolic(SymbolicValue(type: .list, facts: facts))
        case .other(.differs(let values)):
            let constants = values.sorted.filter(\.isShort).map { RuleValue($0, in: database) }
            return .symbolic(SymbolicValue(type: nil, facts: [.notNull, .differs(constants)]))
        case .other(.range(let range)):
            return range.value(in: database)
        case .other(.near), .other(.within):
            return .symbolic(SymbolicValue(type: .latlng))
        case .other(.equals), .other(.contains):
            return .symbolic(SymbolicValue(type: nil))
        }
    }
}

extension Value {
    /// The constraint on the values that a query takes as equal to this one.
    fileprivate func valueOfEqual(in database: UTF8Key) -> RuleValue {
        if isDetermined { return RuleValue(self, in: database) }
        let value = RuleValue(self, in: database)
        switch self {
        case .integer: return .symbolic(SymbolicValue(type: .number, facts: [.equalNumber(value)]))
        case .double(let number):
            return .symbolic(SymbolicValue(type: .number, facts: number.isNaN ? [] : [.equalNumber(value)]))
        default: return .symbolic(SymbolicValue(type: value.type))
        }
    }

    /// True if a value that queries take as equal to this one is the same in rules too.
    ///
    /// It is not for numbers, since 5 equals 5.0; for geo points, in which -0.0 equals 0.0; and for strings and bytes values
    /// of which queries compare the beginning alone.
    fileprivate var isDetermined: Bool {
        switch self {
        case .null, .boolean, .timestamp, .reference: true
        case .string, .bytes: isShort
        case .array(let elements): elements.allSatisfy(\.isDetermined)
        case .map(let map): map.allSatisfy(\.value.isDetermined)
        case .integer, .double, .geoPoint, .vector: false
        }
    }

    /// False if the value has a string or bytes value of which queries compare the beginning alone.
    fileprivate var isShort: Bool {
        switch self {
        case .string(let text): text.utf8.count < DocumentLimits.indexedValueBytes
        case .bytes(let bytes): bytes.count < DocumentLimits.indexedValueBytes
        case .array(let elements): elements.allSatisfy(\.isShort)
        case .map(let map): map.allSatisfy(\.value.isShort)
        default: true
        }
    }
}

extension ValueRange {
    /// The constraint on the values in the range.
    fileprivate func value(in database: UTF8Key) -> RuleValue {
        func bound(_ bound: Bound?) -> SymbolicValue.Bound? {
            guard let bound, bound.value.isShort else { return nil }
            if case .double(let number) = bound.value, number.isNaN { return nil }
            return SymbolicValue.Bound(value: RuleValue(bound.value, in: database), isInclusive: bound.isInclusive)
        }
        guard let constant = (upper ?? lower)?.value else { return .symbolic(SymbolicValue(type: nil)) }
        let type: RuleType
        switch constant {
        case .integer, .double: type = .number
        // In rules a vector is a map, like those that no range of vectors has.
        default: type = RuleValue(constant, in: database).type
        }
        return .symbolic(SymbolicValue(type: type, facts: [.range(lower: bound(lower), upper: bound(upper))]))
    }
}
