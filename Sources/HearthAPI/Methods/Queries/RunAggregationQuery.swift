package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `query.aggregate`: runs an aggregation query.
package enum RunAggregationQuery: RPCMethod {
    /// The parameters of `query.aggregate`.
    package struct Params: Sendable {
        package var aggregations: NormalizedAggregations
        package var query: NormalizedQuery
        package var consistency: ReadConsistency

        /// - Parameter query: The query, normalized for the aggregations.
        package init(
            _ aggregations: NormalizedAggregations,
            of query: NormalizedQuery,
            consistency: ReadConsistency = ReadConsistency()
        ) {
            self.aggregations = aggregations
            self.query = query
            self.consistency = consistency
        }
    }

    package static let name: UTF8Key = "query.aggregate"
    package static let summary = "Counts the documents that match a query, or computes sums and averages of their fields."
    package static let requiredPermission = Permission.readDocuments
    package static let parameters: [any ParameterDescription] =
        [NormalizedAggregations.parameter] + QueryParameters.all + ReadConsistency.parameters
    package static let result = ResultDescription(
        "result",
        .object([
            .init(
                AggregationResponseKeys.result,
                .map(of: Value.schema),
                "The results by alias; null for the average of no values."
            ),
            .readTime,
            .damaged("Unreadable documents that could match; absent if there are none."),
        ]),
        "The aggregation results."
    )
    package static let errors = [ErrorDescription].queryErrors
    package static let examples = [
        RPCExample(
            "the number of books and of their pages",
            params: #"""
                {
                    "aggregations": [{"count": {}, "alias": "books"}, {"sum": "numberOfPages", "alias": "pages"}],
                    "collection": "books",
                    "where": {"field": "numberOfPages", "op": ">", "value": 200}
                }
                """#,
            result: #"{"result": {"books": 1, "pages": 816}, "readTime": "2024-02-29T12:00:00.000000Z"}"#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let aggregations = try NormalizedAggregations(from: arguments)
        let query = try QueryParameters.normalized(from: arguments, aggregating: aggregations)
        try arguments.location.locatingErrors { () throws(StatusError) in try query.requireAggregatable() }
        return Params(aggregations, of: query, consistency: try ReadConsistency(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> AggregationResults {
        try await ReadView(params.consistency, in: context).aggregate(params.query, params.aggregations)
    }

    package static func write(_ result: AggregationResults, to writer: inout JSONWriter) {
        AggregationResponse(results: result.results, readTime: result.readTime, damaged: result.damaged).write(to: &writer)
    }
}

extension NormalizedQuery {
    /// Requires that the query can be aggregated: it must not be a vector search.
    package func requireAggregatable() throws(StatusError) {
        guard vectorSearch != nil else { return }
        var error = StatusError(
            .invalidArgument,
            "A query with findNearest cannot be aggregated. Omit findNearest, or run the query and aggregate its documents."
        )
        error.parameterPath = "findNearest"
        throw error
    }
}
