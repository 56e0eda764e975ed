package import StrictJSON

/// One number that is wanted of all documents of a query.
package struct Aggregation: Hashable, Sendable {
    /// How the number is made.
    package var operation: Operation
    /// What it is called in the result; `field_1`, `field_2` and so on for those without a name, or with an empty one.
    package var alias: UTF8Key?

    /// Makes an aggregation.
    package init(_ operation: Operation, alias: UTF8Key? = nil) {
        self.operation = operation
        self.alias = alias
    }

    /// How a number is made. Only documents count that have all fields which any aggregation of the query names.
    package enum Operation: Hashable, Sendable {
        /// How many documents there are, or this many if there are more.
        case count(upTo: Int?)
        /// The sum of the numbers in a field: an integer if all are and the sum has 64 bits, else a double; 0 of none.
        case sum(FieldPath)
        /// The mean of the numbers in a field as a double; null of none.
        case average(FieldPath)
    }
}

extension Aggregation.Operation {
    /// The field that is aggregated; nil when it is the documents themselves.
    package var field: FieldPath? {
        switch self {
        case .count: nil
        case .sum(let field), .average(let field): field
        }
    }
}
