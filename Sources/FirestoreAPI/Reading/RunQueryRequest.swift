package import DocumentModel
import DocumentStore
import FirestoreMessages
package import HearthAPI

/// A `RunQuery` request.
package struct RunQueryRequest: Sendable {
    private let query: NormalizedQuery
    private let consistency: ConsistencySelector
    private let explain: ExplainMode?

    package static let requiredPermission = RunQuery.requiredPermission
    package static let expectedResponseBytes = RunQuery.expectedResponseBytes

    package init(
        _ query: StructuredQuery,
        _ consistency: ConsistencySelector,
        explain: ExplainMode?
    ) throws(StatusError) {
        self.query = try StatusError.locating(in: "structuredQuery") { () throws(StatusError) in
            try NormalizedQuery(firestore: query)
        }
        self.consistency = consistency
        self.explain = explain
    }

    /// The messages of a response: one for each document, or one with only the read time if there are none. A new transaction's
    /// ID precedes them in a separate message; explain metrics follow them.
    package struct Response: Sendable {
        private let documents: [EncodedDocument]
        private let readTime: Timestamp
        private let skippedCount: Int
        private let newTransaction: TransactionID?
        private let metrics: ExplainMetrics?
        package let damagedCount: Int

        fileprivate init(
            _ found: QueryResults,
            skippedCount: Int,
            newTransaction: TransactionID?,
            metrics: ExplainMetrics?
        ) {
            // A request for the plan gets no documents.
            documents = metrics != nil && metrics?.statistics == nil ? [] : found.documents
            readTime = found.readTime
            self.skippedCount = skippedCount
            self.newTransaction = newTransaction
            self.metrics = metrics
            damagedCount = found.damaged.count
        }
    }

    package func respond(in context: ServiceContext) async throws(StatusError) -> Response {
        try explain.authorize(in: context)
        return try await consistency.read(in: context) { consistency, newTransaction throws(StatusError) in
            let start = ContinuousClock.now
            let found = try await RunQuery.call(.init(query, consistency: consistency), in: context)
            return Response(
                found,
                skippedCount: query.offset,
                newTransaction: newTransaction,
                metrics: explain.map {
                    ExplainMetrics(found.metrics, $0, resultCount: found.documents.count, since: start)
                }
            )
        }
    }
}

extension RunQueryRequest.Response {
    /// A message of the response.
    package enum Message: Sendable {
        case newTransaction(TransactionID)
        /// A document, or none in the message for an empty result.
        case result(EncodedDocument?, readTime: Timestamp, skippedCount: Int)
        case metrics(ExplainMetrics, readTime: Timestamp)
    }

    private var firstResult: Int { newTransaction == nil ? 0 : 1 }
    /// An empty result has a message of its own, unless metrics follow.
    private var resultCount: Int { max(documents.count, metrics == nil ? 1 : 0) }

    /// The number of messages, at least 1.
    package var count: Int { firstResult + resultCount + (metrics == nil ? 0 : 1) }

    package subscript(index: Int) -> Message {
        if let newTransaction, index == 0 { return .newTransaction(newTransaction) }
        let index = index - firstResult
        if let metrics, index == resultCount { return .metrics(metrics, readTime: readTime) }
        guard documents.indices.contains(index) else { return .result(nil, readTime: readTime, skippedCount: 0) }
        return .result(documents[index], readTime: readTime, skippedCount: index == 0 ? skippedCount : 0)
    }

    /// The approximate size of the documents in memory.
    package var estimatedBytes: Int {
        documents.reduce(0) { $0 + 128 + $1.fieldsJSON.count }
    }
}
