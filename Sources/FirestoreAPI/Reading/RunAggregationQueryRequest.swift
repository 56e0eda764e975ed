package import DocumentModel
import DocumentStore
package import HearthAPI

/// A `RunAggregationQuery` request.
package struct RunAggregationQueryRequest: Sendable {
    private let query: StructuredAggregationQuery
    private let consistency: ConsistencySelector
    private let explain: ExplainMode?

    package static let requiredPermission = RunAggregationQuery.requiredPermission

    package init(_ query: StructuredAggregationQuery, _ consistency: ConsistencySelector, explain: ExplainMode?) {
        self.query = query
        self.consistency = consistency
        self.explain = explain
    }

    /// A response, which is one message.
    package struct Response: Sendable {
        /// The results by alias; `nil` if only the plan was requested.
        package let results: MapValue?
        package let readTime: Timestamp
        /// The transaction that the request has begun.
        package let newTransaction: TransactionID?
        package let metrics: ExplainMetrics?
        package let damagedCount: Int
    }

    package func respond(in context: ServiceContext) async throws(StatusError) -> Response {
        try explain.authorize(in: context)
        return try await consistency.read(in: context) { consistency, newTransaction throws(StatusError) in
            let start = ContinuousClock.now
            let found = try await RunAggregationQuery.call(
                .init(query.aggregations, of: query.query, consistency: consistency),
                in: context
            )
            return Response(
                results: explain == .plan ? nil : found.results,
                readTime: found.readTime,
                newTransaction: newTransaction,
                metrics: explain.map { ExplainMetrics(found.metrics, $0, resultCount: 1, since: start) },
                damagedCount: found.damaged.count
            )
        }
    }
}
