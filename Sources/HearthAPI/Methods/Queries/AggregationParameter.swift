package import DocumentModel
import HearthWire
package import JSONRPC
import UTF8Text

/// An aggregation over the results of a query: `{count: {upTo?}}`, `{sum: field}` or `{average: field}`, with `alias?`.
package struct AggregationParameter: ObjectParameter {
    let aggregation: Aggregation

    package static let schemaName = "Aggregation"
    static let count = Parameter<CountParameter?>(AggregationKeys.count, "The number of documents.")
    static let sum = Parameter<FieldPath?>(AggregationKeys.sum, "The sum of the numbers in this field.")
    static let average = Parameter<FieldPath?>(AggregationKeys.average, "The average of the numbers in this field.")
    static let alias = Parameter<String?>(AggregationKeys.alias, "The name in the result. Default: field_1, field_2, …")
    package static let members: [any ParameterDescription] = [count, sum, average, alias]

    package init(from members: Arguments) throws(RPCError) {
        let operations: [Aggregation.Operation] = [
            try members[Self.count].map { .count(upTo: $0.upTo) },
            try members[Self.sum].map { .sum($0) },
            try members[Self.average].map { .average($0) },
        ].compactMap(\.self)
        guard operations.count == 1, let operation = operations.first else {
            throw members.location.invalid("expected exactly one of count, sum and average")
        }
        aggregation = Aggregation(operation, alias: try members[Self.alias].map { UTF8Key($0) })
    }

    /// The options of a count.
    struct CountParameter: ObjectParameter {
        let upTo: Int?

        static let schemaName = "Count"
        static let upTo = Parameter<Int?>(CountKeys.upTo, "The number at which counting stops. Default: no limit.")
        static let members: [any ParameterDescription] = [upTo]

        init(from members: Arguments) throws(RPCError) {
            upTo = try members[Self.upTo]
        }
    }
}

extension NormalizedAggregations {
    /// The parameter with the aggregations of a query.
    package static let parameter = Parameter<[AggregationParameter]>(
        AggregationQueryKeys.aggregations,
        "The aggregations, 1 to 5."
    )

    /// Decodes and validates the aggregations of a call.
    package init(from arguments: Arguments) throws(RPCError) {
        let aggregations = try arguments[Self.parameter].map(\.aggregation)
        self = try arguments.location.locatingErrors { () throws(StatusError) in try NormalizedAggregations(aggregations) }
    }
}
