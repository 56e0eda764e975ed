package import DocumentModel
package import JSONRPC
import StrictJSON

/// A number that is wanted of all documents of a query: `{count: {upTo?}}`, `{sum: field}` or `{average: field}`, with `alias?`.
package struct AggregationParameter: ObjectParameter {
    let aggregation: Aggregation

    package static let schemaName = "Aggregation"
    static let count = Parameter<CountParameter?>("count", "How many documents there are.")
    static let sum = Parameter<FieldPath?>("sum", "The sum of the numbers in this field.")
    static let average = Parameter<FieldPath?>("average", "The mean of the numbers in this field.")
    static let alias = Parameter<String?>("alias", "The name in the result; field_1, field_2 and so on when absent.")
    package static let members: [any ParameterDescription] = [count, sum, average, alias]

    package init(from members: Arguments) throws(RPCError) {
        let operations: [Aggregation.Operation] = [
            try members[Self.count].map { .count(upTo: $0.upTo) },
            try members[Self.sum].map { .sum($0) },
            try members[Self.average].map { .average($0) },
        ].compactMap(\.self)
        guard operations.count == 1, let operation = operations.first else {
            throw members.location.invalid("an aggregation is exactly one of count, sum and average")
        }
        aggregation = Aggregation(operation, alias: try members[Self.alias].map { UTF8Key($0) })
    }

    /// How far documents are counted.
    struct CountParameter: ObjectParameter {
        let upTo: Int?

        static let schemaName = "Count"
        static let upTo = Parameter<Int?>("upTo", "Count no further than this; to the end when absent.")
        static let members: [any ParameterDescription] = [upTo]

        init(from members: Arguments) throws(RPCError) {
            upTo = try members[Self.upTo]
        }
    }
}

extension NormalizedAggregations {
    /// The parameter that states what is wanted of the documents of a query.
    package static let parameter = Parameter<[AggregationParameter]>("aggregations", "The numbers that are wanted: 1 to 5.")

    /// Reads the aggregations of a call, and checks them by the model's rules.
    package init(from arguments: Arguments) throws(RPCError) {
        let aggregations = try arguments[Self.parameter].map(\.aggregation)
        self = try arguments.location.model { () throws(StatusError) in try NormalizedAggregations(aggregations) }
    }
}
