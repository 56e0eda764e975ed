package import StrictJSON

/// The aggregations of a query, checked and named.
package struct NormalizedAggregations: Sendable {
    /// Each with its name, in the order in which they were given.
    package let operations: [(alias: UTF8Key, operation: Aggregation.Operation)]
    /// The fields that a document must have to be counted, in order.
    package let fields: [FieldPath]

    /// How many aggregations a query may have.
    package static let maximumCount = 5

    /// Checks and names aggregations.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the place, and with the texts that Firestore's clients look for.
    package init(_ aggregations: [Aggregation]) throws(StatusError) {
        let place = QueryPlace("aggregations")
        guard !aggregations.isEmpty else { throw place.error("Aggregations can not be empty. Ask for at least one.") }
        guard aggregations.count <= Self.maximumCount else {
            throw place.error(
                "The maximum number of aggregations is \(Self.maximumCount), found \(aggregations.count). Divide the query."
            )
        }
        var operations: [(alias: UTF8Key, operation: Aggregation.Operation)] = []
        var unnamed = 0
        for (index, aggregation) in aggregations.enumerated() {
            let place = place.element(index)
            try aggregation.operation.validate(at: place)
            var alias = aggregation.alias ?? ""
            if alias.byteCount == 0 {
                unnamed += 1
                alias = UTF8Key("field_\(unnamed)")
            }
            guard !operations.contains(where: { $0.alias == alias }) else {
                throw place.member("alias").error(
                    "Aggregation aliases contain duplicate alias: \(Excerpt(alias.string)). Those without one are called "
                        + "field_1, field_2 and so on. Use another."
                )
            }
            operations.append((alias, aggregation.operation))
        }
        self.operations = operations
        fields = Set(operations.compactMap(\.operation.field)).sorted()
    }
}

extension Aggregation.Operation {
    fileprivate func validate(at place: QueryPlace) throws(StatusError) {
        switch self {
        case .count(let upTo):
            guard upTo.map({ $0 > 0 }) != false else {
                throw place.member("count.upTo").error("Expected a number of documents above 0, found \(upTo ?? 0).")
            }
        case .sum(let field):
            try place.member("sum").of { () throws(StatusError) in try field.validate() }
        case .average(let field):
            try place.member("average").of { () throws(StatusError) in try field.validate() }
        }
    }
}
