internal import DocumentIndex
package import DocumentModel
package import DocumentStore
internal import Journal
internal import QueryEngine

extension FileStore {
    package func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try await withSnapshot(readTime) { snapshot, documents throws(StatusError) in
            let execution = try QueryExecution(query, snapshot, documents, maximumBytes: maximumBytes)
            let matches = try execution.run()
            return QueryResults(
                documents: matches,
                readTime: documents.time,
                damaged: documents.damaged,
                metrics: execution.metrics
            )
        }
    }

    package func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try await withSnapshot(readTime) { snapshot, documents throws(StatusError) in
            let execution = try QueryExecution(
                query,
                snapshot,
                documents,
                maximumBytes: Self.maximumAggregatedBytes,
                mask: aggregations.fields
            )
            let results = try execution.aggregate(aggregations)
            return AggregationResults(
                results: results,
                readTime: documents.time,
                damaged: documents.damaged,
                metrics: execution.metrics
            )
        }
    }

    package func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await withSnapshot(nil) { snapshot, _ throws(StatusError) in try snapshot.size(of: collection) }
    }

    /// The maximum size of the values that are aggregated in a query with a limit.
    static let maximumAggregatedBytes = 32 << 20

    /// Runs `body` with a snapshot of the index that contains every acknowledged commit, and with a reader of documents as of that
    /// snapshot's last commit or an earlier read time.
    private func withSnapshot<Result: Sendable>(
        _ readTime: Timestamp?,
        _ body: @escaping @Sendable (IndexSnapshot, PointInTimeDocumentReader) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        if let readTime {
            try await reader.waitForInFlightCommits(through: readTime)
            // Checks that the history reaches back to the read time, and loads it.
            _ = try await components.history.view(after: readTime)
        }
        let sequence = try await safePosition().lastSequence
        let components = components
        let read = { () async throws(StatusError) -> Result in
            try await components.index.read(atLeast: sequence) { snapshot throws(StatusError) in
                try body(snapshot, PointInTimeDocumentReader(components, at: readTime ?? snapshot.commitTime ?? .minimum))
            }
        }
        do throws(StatusError) {
            return try await read()
        } catch {
            guard let missing = error.cause as? HistoryNotLoaded else { throw error }
            _ = try await components.history.view(after: missing.time)
            return try await read()
        }
    }
}
