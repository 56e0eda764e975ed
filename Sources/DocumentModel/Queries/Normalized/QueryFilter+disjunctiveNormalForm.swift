extension QueryFilter {
    /// The maximum number of disjuncts in a filter, as counted by ``disjunctCount``.
    package static let maximumDisjunctCount = 30

    /// The number of disjuncts in disjunctive normal form, where `in` and `array-contains-any` count once per value. Saturates at
    /// `Int.max`.
    var disjunctCount: Int {
        switch self {
        case .field(_, let condition):
            condition.disjunctCount
        case .and(let filters):
            filters.reduce(1) { product, filter in
                let (result, overflowed) = product.multipliedReportingOverflow(by: filter.disjunctCount)
                return overflowed ? .max : result
            }
        case .or(let filters):
            filters.reduce(0) { sum, filter in
                let (result, overflowed) = sum.addingReportingOverflow(filter.disjunctCount)
                return overflowed ? .max : result
            }
        }
    }

    /// True if the filter contains a disjunction of more than one filter.
    var isDisjunctive: Bool {
        switch self {
        case .field: false
        case .or(let filters): filters.count > 1 || filters.contains(where: \.isDisjunctive)
        case .and(let filters): filters.contains(where: \.isDisjunctive)
        }
    }

    /// Returns all single-field filters in order.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if a combination is empty.
    func fieldFilters(at path: ParameterPath) throws(StatusError) -> [FieldFilter] {
        switch self {
        case .field(let field, let condition):
            [FieldFilter(field: field, condition: condition, path: path)]
        case .and(let filters):
            try Self.fieldFilters(of: filters, at: path.member("and"))
        case .or(let filters):
            try Self.fieldFilters(of: filters, at: path.member("or"))
        }
    }

    private static func fieldFilters(of filters: [QueryFilter], at path: ParameterPath) throws(StatusError) -> [FieldFilter] {
        guard !filters.isEmpty else {
            throw path.error("Expected at least one filter to combine, found none. Add one, or remove the combination.")
        }
        var fieldFilters: [FieldFilter] = []
        for (index, filter) in filters.enumerated() { fieldFilters += try filter.fieldFilters(at: path.element(index)) }
        return fieldFilters
    }

    /// Returns the disjuncts as conjunctions of indices into ``fieldFilters(at:)``.
    ///
    /// - Parameter next: The index of this filter's first field filter; on return, the index after its last one.
    func disjuncts(countingFrom next: inout Int) -> [[Int]] {
        switch self {
        case .field:
            defer { next += 1 }
            return [[next]]
        case .or(let filters):
            return filters.flatMap { $0.disjuncts(countingFrom: &next) }
        case .and(let filters):
            var product: [[Int]] = [[]]
            for filter in filters {
                let disjuncts = filter.disjuncts(countingFrom: &next)
                if disjuncts.count == 1 {
                    // Appended in place; otherwise a long conjunction would take quadratic time.
                    for index in product.indices { product[index] += disjuncts[0] }
                } else {
                    product = product.flatMap { left in disjuncts.map { left + $0 } }
                }
            }
            return product
        }
    }
}
