package import DocumentModel
package import DocumentStore
package import JSONRPC
package import StrictJSON

/// `query.explain`: how a query is answered, and what that takes.
package enum ExplainQuery: RPCMethod {
    package struct Params: Sendable {
        package var query: NormalizedQuery
        /// What is made of the documents; nil when they are wanted themselves.
        package var aggregations: NormalizedAggregations?
        package var point: ReadPoint
    }

    package struct Result: Sendable {
        package let work: QueryWork
        package let resultCount: Int
        package let duration: Duration
        package let readTime: Timestamp
    }

    private static let aggregations = Parameter<[AggregationParameter]?>(
        "aggregations",
        "Explain query.aggregate with these, instead of query.run."
    )

    package static let name: UTF8Key = "query.explain"
    package static let summary = "Runs a query and tells how it was answered and what that took, instead of the documents."
    package static let right = Role.reader
    package static let parameters: [any ParameterDescription] = QueryParameters.all + ReadPoint.parameters + [aggregations]
    package static let result = ResultDescription(
        "explanation",
        .object([
            .init("plan", .array(of: .string()), "The steps, in sentences for people; they may read differently in any version."),
            .init("entriesScanned", .integer(minimum: 0), "How many entries of the index were looked at."),
            .init("documentsRead", .integer(minimum: 0), "How many documents were read."),
            .init("results", .integer(minimum: 0), "How many documents, or numbers, the query gives."),
            .init("milliseconds", .number, "How long it took, without waiting for the answer to be sent."),
            .readTime,
        ]),
        "How the query is answered."
    )
    package static let errors = [ErrorDescription].ofQueries
    package static let examples = [
        RPCExample(
            "an order and a limit",
            params: #"{"collection": "books", "orderBy": [{"field": "numberOfPages"}], "limit": 1}"#,
            result: #"""
                {
                    "plan": [
                        "Run through all values of numberOfPages, from the least up",
                        "Read and check each until there are enough"
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
            try arguments.location.model { () throws(StatusError) in try NormalizedAggregations(list.map(\.aggregation)) }
        }
        let query = try QueryParameters.normalized(from: arguments, aggregating: aggregations)
        if aggregations != nil {
            try arguments.location.model { () throws(StatusError) in try query.checkIsAggregated() }
        }
        return Params(query: query, aggregations: aggregations, point: try ReadPoint(from: arguments))
    }

    package static func call(_ params: Params, in context: ServiceContext) async throws(StatusError) -> Result {
        let view = try await ReadView(params.point, in: context)
        let start = ContinuousClock.now
        if let aggregations = params.aggregations {
            let answer = try await view.aggregate(params.query, aggregations)
            return Result(
                work: answer.work,
                resultCount: aggregations.operations.count,
                duration: .now - start,
                readTime: answer.readTime
            )
        }
        let answer = try await view.run(params.query, maximumBytes: context.server.limits.maximumBodyBytes)
        return Result(
            work: answer.work,
            resultCount: answer.documents.count,
            duration: .now - start,
            readTime: answer.readTime
        )
    }

    package static func write(_ result: Result, to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("plan")
        writer.beginArray()
        for step in result.work.plan { writer.string(step) }
        writer.endArray()
        writer.key("entriesScanned")
        writer.integer(Int64(result.work.entriesScanned))
        writer.key("documentsRead")
        writer.integer(Int64(result.work.documentsRead))
        writer.key("results")
        writer.integer(Int64(result.resultCount))
        writer.key("milliseconds")
        writer.double(Double(Int(result.duration / .microseconds(1))) / 1_000)
        writer.key("readTime")
        writer.string(result.readTime.rfc3339)
        writer.endObject()
    }
}
