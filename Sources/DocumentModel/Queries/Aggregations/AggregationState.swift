/// What the aggregations of a query have come to so far.
///
/// Takes the documents that the query gives, one by one, in any order.
package struct AggregationState: Sendable {
    private let aggregations: NormalizedAggregations
    private var count = 0
    /// Beside ``NormalizedAggregations/fields``.
    private var sums: [NumberSum]

    /// Begins with no document.
    package init(_ aggregations: NormalizedAggregations) {
        self.aggregations = aggregations
        sums = aggregations.fields.map { _ in NumberSum() }
    }

    /// Adds a document, unless it lacks one of the fields.
    package mutating func add(_ fields: MapValue) {
        var values: [Value] = []
        for field in aggregations.fields {
            guard let value = fields[field] else { return }
            values.append(value)
        }
        for (index, value) in values.enumerated() { sums[index].add(value) }
        count += 1
    }

    /// Adds documents whose fields are not needed, since they are only counted.
    package mutating func add(documents: Int) {
        precondition(aggregations.fields.isEmpty, "sums need the documents' fields")
        count += documents
    }

    /// Whether no further document can change the results: all that is wanted are counts, and they have come to their ends.
    package var isComplete: Bool {
        aggregations.operations.allSatisfy { _, operation in
            if case .count(let end?) = operation { count >= end } else { false }
        }
    }

    /// The results by their names.
    package var results: MapValue {
        MapValue(aggregations.operations.map { (key: $0.alias, value: result(of: $0.operation)) })
    }

    private func result(of operation: Aggregation.Operation) -> Value {
        switch operation {
        case .count(let end):
            return .integer(Int64(end.map { min($0, count) } ?? count))
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
