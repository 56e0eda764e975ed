internal import DocumentModel

extension NormalizedQuery {
    /// The number of matches that the execution needs, including skipped ones; `nil` for all.
    var neededCount: Int? {
        limit.map { limit in
            let (sum, overflowed) = limit.addingReportingOverflow(offset)
            return overflowed ? .max : sum
        }
    }

    /// True if the query compares the vectors of all matches, so that its order only breaks ties.
    var isExhaustiveVectorSearch: Bool { vectorSearch != nil && limit == nil && offset == 0 }
}

extension StructuredQuery.Order {
    /// True if the order is by the distance from a point.
    var isByDistance: Bool {
        if case .distance = key { true } else { false }
    }
}
