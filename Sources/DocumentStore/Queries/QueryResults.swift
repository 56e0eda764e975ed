package import DocumentModel

/// The result of a query.
package struct QueryResults: Sendable {
    /// The documents in the query's order, with the projected fields.
    package let documents: [EncodedDocument]
    /// The read time. The same query at this time has the same result.
    package let readTime: Timestamp
    /// The errors of candidate documents that cannot be read, each with its file. The files are left untouched.
    package let damaged: [StatusError]
    /// The plan and the cost of the query.
    package let metrics: QueryMetrics
    /// The epoch of the history that the times belong to; `nil` if the caller does not need it.
    package var epoch: String?

    /// Creates a result.
    package init(
        documents: [EncodedDocument],
        readTime: Timestamp,
        damaged: [StatusError] = [],
        metrics: QueryMetrics = QueryMetrics()
    ) {
        self.documents = documents
        self.readTime = readTime
        self.damaged = damaged
        self.metrics = metrics
    }
}

/// The results of a query's aggregations.
package struct AggregationResults: Sendable {
    /// The results by alias.
    package let results: MapValue
    /// The read time.
    package let readTime: Timestamp
    /// The errors of candidate documents that cannot be read, each with its file.
    package let damaged: [StatusError]
    /// The plan and the cost of the query.
    package let metrics: QueryMetrics

    /// Creates a result.
    package init(
        results: MapValue,
        readTime: Timestamp,
        damaged: [StatusError] = [],
        metrics: QueryMetrics = QueryMetrics()
    ) {
        self.results = results
        self.readTime = readTime
        self.damaged = damaged
        self.metrics = metrics
    }
}

/// The plan and the cost of a query.
package struct QueryMetrics: Hashable, Sendable {
    /// The steps of the plan, in human-readable form.
    package var plan: [String]
    /// The number of index entries read or counted.
    package var entriesScanned: Int
    /// The number of documents read.
    package var documentsRead: Int

    /// Creates metrics.
    package init(plan: [String] = [], entriesScanned: Int = 0, documentsRead: Int = 0) {
        self.plan = plan
        self.entriesScanned = entriesScanned
        self.documentsRead = documentsRead
    }
}
