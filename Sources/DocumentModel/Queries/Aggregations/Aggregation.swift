package import UTF8Text

/// An aggregation over the documents of a query.
package struct Aggregation: Hashable, Sendable {
    /// The operation.
    package var operation: Operation
    /// The name in the result. Aggregations without an alias, or with an empty one, are named `field_1`, `field_2` and so on.
    package var alias: UTF8Key?

    /// Creates an aggregation.
    package init(_ operation: Operation, alias: UTF8Key? = nil) {
        self.operation = operation
        self.alias = alias
    }

    /// An aggregation operation. Only documents that have all aggregated fields of the query are included.
    package enum Operation: Hashable, Sendable {
        /// The number of documents, up to an optional maximum.
        case count(upTo: Int?)
        /// The sum of the numbers in a field: an integer if all are integers and the sum fits in 64 bits, otherwise a double; 0
        /// if there are none.
        case sum(FieldPath)
        /// The mean of the numbers in a field as a double; null if there are none.
        case average(FieldPath)
    }
}

extension Aggregation.Operation {
    /// The aggregated field; `nil` for a count.
    package var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}
