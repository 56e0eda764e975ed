extension Filter {
    /// How many alternatives a filter may have, counted as ``disjunctions`` does.
    package static let maximumDisjunctions = 30

    /// How many alternatives the filter has in disjunctive normal form, with `in` and `array-contains-any` for as many as
    /// they have values; as much as an `Int` holds when there are more.
    var disjunctions: Int {
        switch self {
        case .field(_, let condition):
            condition.alternatives
        case .and(let filters):
            filters.reduce(1) { product, filter in
                let (result, overflowed) = product.multipliedReportingOverflow(by: filter.disjunctions)
                return overflowed ? .max : result
            }
        case .or(let filters):
            filters.reduce(0) { sum, filter in
                let (result, overflowed) = sum.addingReportingOverflow(filter.disjunctions)
                return overflowed ? .max : result
            }
        }
    }

    /// Whether the filter, or one inside it, offers a choice, so that not all conditions must be fulfilled.
    var hasChoice: Bool {
        switch self {
        case .field: false
        case .or(let filters): filters.count > 1 || filters.contains(where: \.hasChoice)
        case .and(let filters): filters.contains(where: \.hasChoice)
        }
    }

    /// All conditions in the order in which they stand.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when there is nothing to combine somewhere.
    func leaves(at place: QueryPlace) throws(StatusError) -> [FilterLeaf] {
        switch self {
        case .field(let field, let condition):
            [FilterLeaf(field: field, condition: condition, place: place)]
        case .and(let filters):
            try Self.leaves(of: filters, at: place.member("and"))
        case .or(let filters):
            try Self.leaves(of: filters, at: place.member("or"))
        }
    }

    private static func leaves(of filters: [Filter], at place: QueryPlace) throws(StatusError) -> [FilterLeaf] {
        guard !filters.isEmpty else {
            throw place.error("Expected at least one filter to combine, found none. Put one there, or leave the filter out.")
        }
        var leaves: [FilterLeaf] = []
        for (index, filter) in filters.enumerated() { leaves += try filter.leaves(at: place.element(index)) }
        return leaves
    }

    /// The filter's alternatives, each as the indices of the conditions that must all be fulfilled.
    ///
    /// - Parameter next: The index of the filter's first condition among ``leaves(at:)``; that of the one after it on return.
    func alternatives(countingFrom next: inout Int) -> [[Int]] {
        switch self {
        case .field:
            defer { next += 1 }
            return [[next]]
        case .or(let filters):
            return filters.flatMap { $0.alternatives(countingFrom: &next) }
        case .and(let filters):
            var product: [[Int]] = [[]]
            for filter in filters {
                let alternatives = filter.alternatives(countingFrom: &next)
                if alternatives.count == 1 {
                    // Appended in place, or a long list of conditions would cost its square.
                    for index in product.indices { product[index] += alternatives[0] }
                } else {
                    product = product.flatMap { left in alternatives.map { left + $0 } }
                }
            }
            return product
        }
    }
}
