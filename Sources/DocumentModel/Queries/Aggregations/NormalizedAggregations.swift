package import UTF8Text

/// The validated aggregations of a query, with aliases.
package struct NormalizedAggregations: Sendable {
    /// The operations with their aliases, in the original order.
    package let operations: [(alias: UTF8Key, operation: Aggregation.Operation)]
    /// The aggregated fields, sorted. A document must have all of them to be included.
    package let fields: [FieldPath]

    /// The maximum number of aggregations in a query.
    package static let maximumCount = 5

    /// Validates aggregations and assigns aliases.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` with the parameter path, and with messages that Firestore's clients recognize.
    package init(_ aggregations: [Aggregation]) throws(StatusError) {
        let path = ParameterPath("aggregations")
        guard !aggregations.isEmpty else { throw path.error("Aggregations can not be empty. Add at least one.") }
        guard aggregations.count <= Self.maximumCount else {
            throw path.error(
                "The maximum number of aggregations is \(Self.maximumCount), found \(aggregations.count). Split the query."
            )
        }
        var operations: [(alias: UTF8Key, operation: Aggregation.Operation)] = []
        var unnamed = 0
        for (index, aggregation) in aggregations.enumerated() {
            let path = path.element(index)
            try aggregation.operation.validate(at: path)
            var alias = aggregation.alias ?? ""
            if alias.byteCount == 0 {
                unnamed += 1
                alias = UTF8Key("field_\(unnamed)")
            }
            guard !operations.contains(where: { $0.alias == alias }) else {
                throw path.member("alias").error(
                    "Aggregation aliases contain duplicate alias: \(Excerpt(alias.string)). "
                        + "Aggregations without an alias are named field_1, field_2 and so on. Use another alias."
                )
            }
            operations.append((alias, aggregation.operation))
        }
        self.operations = operations
        fields = Set(operations.compactMap(\.operation.field)).sorted()
    }
}

extension Aggregation.Operation {
    fileprivate func validate(at path: ParameterPath) throws(StatusError) {
        switch self {
        case .count(let upTo):
            guard upTo.map({ $0 > 0 }) != false else {
                throw path.member("count.upTo").error("Expected a number of documents above 0, found \(upTo ?? 0).")
            }
        case .sum(let field):
            try path.member("sum").locating { () throws(StatusError) in try field.validate() }
        case .average(let field):
            try path.member("average").locating { () throws(StatusError) in try field.validate() }
        }
    }
}
