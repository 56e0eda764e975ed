package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `query.aggregate`: numbers that are made of the documents that a query finds.
package enum AggregateQuery: RPCMethod {
    package struct Params: Sendable {
        package var aggregations: NormalizedAggregations
        package var query: NormalizedQuery
        package var point: ReadPoint

        /// - Parameter query: Made for the aggregations.
        package init(_ aggregations: NormalizedAggregations, of query: NormalizedQuery, at point: ReadPoint = ReadPoint()) {
            self.aggregations = aggregations
            self.query = query
            self.point = point
        }
    }

    package static let name: UTF8Key = "query.aggregate"
    package static let summary = "Counts the documents that a query finds, or gives sums and means of their fields."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] =
        [NormalizedAggregations.parameter] + QueryParameters.all + ReadPoint.parameters
    package static let result = ResultDescription(
        "result",
        .object([
            .init("result", .map(of: Value.schema), "The numbers by their aliases; null for the mean of none."),
            .readTime,
            .damaged("Documents that could count and cannot be read; absent when there are none."),
        ]),
        "The numbers."
    )
    package static let errors = [ErrorDescription].ofQueries
    package static let examples = [
        RPCExample(
            "how many books there are, and their pages",
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
        try arguments.location.model { () throws(StatusError) in try query.checkIsAggregated() }
        return Params(aggregations, of: query, at: try ReadPoint(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> AggregationAnswer {
        try await ReadView(params.point, in: context).aggregate(params.query, params.aggregations)
    }

    package static func write(_ result: AggregationAnswer, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("result")
        result.results.write(to: &writer)
        writer.key("readTime")
        writer.string(result.readTime.rfc3339)
        writer.damaged(result.damaged.map(DamagedDocument.init))
        writer.endObject()
    }
}

extension NormalizedQuery {
    /// Refuses what can't be aggregated.
    package func checkIsAggregated() throws(StatusError) {
        guard vectorSearch != nil else { return }
        var error = StatusError(
            .invalidArgument,
            "A search for the nearest vectors can't be aggregated. Leave findNearest out, or run the query and aggregate its documents."
        )
        error.place = "findNearest"
        throw error
    }
}
