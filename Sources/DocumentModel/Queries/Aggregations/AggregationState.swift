/// The running state of a query's aggregations.
///
/// Documents are added one by one, in any order.
package struct AggregationState: Sendable {
    private let aggregations: NormalizedAggregations
    private var count = 0
    /// One sum per field, parallel to ``NormalizedAggregations/fields``.
    private var sums: [NumberSum]

    /// Creates the initial state.
    package init(_ aggregations: NormalizedAggregations) {
        self.aggregations = aggregations
        sums = aggregations.fields.map { _ in NumberSum() }
    }

    /// Adds a document, unless it lacks an aggregated field.
    package mutating func add(_ fields: MapValue) {
        var values: [Value] = []
        for field in aggregations.fields {
            guard let value = fields[field] else { return }
            values.append(value)
        }
        for (index, value) in values.enumerated() { sums[index].add(value) }
        count += 1
    }

    /// Adds a number of documents, without the values of their fields.
    package mutating func add(documents: Int) {
        count += documents
    }

    /// Adds a number of a field of a document, without the document.
    ///
    /// - Parameter field: The index of the field in ``NormalizedAggregations/fields``.
    package mutating func add(_ number: Value, ofField field: Int) {
        sums[field].add(number)
    }

    /// True if more documents cannot change the results, because all aggregations are counts that have reached their maximums.
    package var isComplete: Bool {
        aggregations.operations.allSatisfy { _, operation in
            if case .count(let maximum?) = operation { count >= maximum } else { false }
        }
    }

    /// The results by alias.
    package var results: MapValue {
        MapValue(aggregations.operations.map { (key: $0.alias, value: result(of: $0.operation)) })
    }

    private func result(of operation: Aggregation.Operation) -> Value {
        switch operation {
        case .count(let maximum):
            return .integer(Int64(maximum.map { min($0, count) } ?? count))
        case .sum(let field):
            return sum(of: field).sum
        case .average(let field):
            return sum(of: field).average
        }
    }

    private func sum(of field: FieldPath) -> NumberSum {
        aggregations.fields.firstIndex(of: field).map { sums[$0] } ?? NumberSum()
    }
}
