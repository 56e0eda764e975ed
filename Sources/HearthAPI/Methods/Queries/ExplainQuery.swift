package import DocumentModel
package import DocumentStore
import HearthWire
package import JSONRPC
package import StrictJSON
package import UTF8Text

/// `query.explain`: runs a query and reports its plan and cost.
package enum ExplainQuery: RPCMethod {
    /// The parameters of `query.explain`.
    package struct Params: Sendable {
        package var query: NormalizedQuery
        /// The aggregations, or `nil` to explain `query.run`.
        package var aggregations: NormalizedAggregations?
        package var consistency: ReadConsistency
    }

    /// The plan of a query and the cost of running it.
    package struct Result: Sendable {
        package let metrics: QueryMetrics
        package let resultCount: Int
        package let duration: Duration
        package let readTime: Timestamp
    }

    private static let aggregations = Parameter<[AggregationParameter]?>(
        AggregationQueryKeys.aggregations,
        "The aggregations, to explain query.aggregate instead of query.run."
    )

    package static let name: UTF8Key = "query.explain"
    package static let summary = "Runs a query and returns its plan and execution metrics instead of the documents."
    package static let requiredPermission = Permission.reader
    package static let parameters: [any ParameterDescription] = QueryParameters.all + ReadConsistency.parameters + [aggregations]
    package static let result = ResultDescription(
        "explanation",
        .object([
            .init(
                "plan",
                .array(of: .string()),
                "The steps of the plan in human-readable form. The wording may change in any version."
            ),
            .init("entriesScanned", .integer(minimum: 0), "The number of index entries scanned."),
            .init("documentsRead", .integer(minimum: 0), "The number of documents read."),
            .init("results", .integer(minimum: 0), "The number of results: documents or aggregations."),
            .init("milliseconds", .number, "The execution time, without the transfer of the response."),
            .readTime,
        ]),
        "The plan and the execution metrics."
    )
    package static let errors = [ErrorDescription].queryErrors
    package static let examples = [
        RPCExample(
            "a query with an order and a limit",
            params: #"{"collection": "books", "orderBy": [{"field": "numberOfPages"}], "limit": 1}"#,
            result: #"""
                {
                    "plan": [
                        "Scan index numberOfPages ascending",
                        "Read each document and apply the filter, up to the limit"
                    ],
                    "entriesScanned": 1,
                    "documentsRead": 1,
                    "results": 1,
                    "milliseconds": 0.7,
                    "readTime": "2024-02-29T12:00:00.000000Z"
                }
                """#
        )
    ]

    package static func params(from arguments: Arguments) throws -> Params {
        let aggregations = try arguments[aggregations].map { list in
            try arguments.location.locatingErrors { () throws(StatusError) in try NormalizedAggregations(list.map(\.aggregation))
            }
        }
        let query = try QueryParameters.normalized(from: arguments, aggregating: aggregations)
        if aggregations != nil {
            try arguments.location.locatingErrors { () throws(StatusError) in try query.requireAggregatable() }
        }
        return Params(query: query, aggregations: aggregations, consistency: try ReadConsistency(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        let view = try await ReadView(params.consistency, in: context)
        let start = ContinuousClock.now
        if let aggregations = params.aggregations {
            let results = try await view.aggregate(params.query, aggregations)
            return Result(
                metrics: results.metrics,
                resultCount: aggregations.operations.count,
                duration: .now - start,
                readTime: results.readTime
            )
        }
        let results = try await view.run(params.query, maximumBytes: context.server.limits.maximumBodyBytes)
        return Result(
            metrics: results.metrics,
            resultCount: results.documents.count,
            duration: .now - start,
            readTime: results.readTime
        )
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("plan")
        writer.beginArray()
        for step in result.metrics.plan { writer.string(step) }
        writer.endArray()
        writer.key("entriesScanned")
        writer.integer(Int64(result.metrics.entriesScanned))
        writer.key("documentsRead")
        writer.integer(Int64(result.metrics.documentsRead))
        writer.key("results")
        writer.integer(Int64(result.resultCount))
        writer.key("milliseconds")
        writer.double(Double(Int(result.duration / .microseconds(1))) / 1_000)
        writer.member(QueryResponseKeys.readTime, result.readTime.rfc3339)
        writer.endObject()
    }
}
