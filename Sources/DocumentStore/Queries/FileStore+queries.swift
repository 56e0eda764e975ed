package import DocumentModel

extension FileStore {
    package func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryAnswer {
        try await withSnapshot(readTime) { snapshot, documents throws(StatusError) in
            let execution = try QueryExecution(query, snapshot, documents, maximumBytes: maximumBytes)
            let found = try execution.run()
            return QueryAnswer(
                documents: found,
                readTime: documents.time,
                damaged: documents.damaged,
                work: execution.work
            )
        }
    }

    package func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationAnswer {
        try await withSnapshot(readTime) { snapshot, documents throws(StatusError) in
            let execution = try QueryExecution(
                query,
                snapshot,
                documents,
                maximumBytes: Self.maximumAggregatedBytes,
                mask: aggregations.fields
            )
            let results = try execution.aggregate(aggregations)
            return AggregationAnswer(
                results: results,
                readTime: documents.time,
                damaged: documents.damaged,
                work: execution.work
            )
        }
    }

    package func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        try await withSnapshot(nil) { snapshot, _ throws(StatusError) in try snapshot.size(of: collection) }
    }

    /// How large the values may be that are aggregated of a query with a limit.
    static let maximumAggregatedBytes = 32 << 20

    /// Runs `body` with a snapshot of the index that has every commit which anybody may have seen, and the documents as of that
    /// snapshot's last commit or an earlier time.
    private func withSnapshot<Result: Sendable>(
        _ readTime: Timestamp?,
        _ body: @escaping @Sendable (IndexSnapshot, DocumentsAtTime) throws(StatusError) -> Result
    ) async throws(StatusError) -> Result {
        if let readTime {
            try await settle(at: readTime)
            // Makes sure that it is kept, and that it can be looked up.
            _ = try await parts.history.view(after: readTime)
        }
        let sequence = try await settledPosition().lastSequence
        let parts = parts
        let read = { () async throws(StatusError) -> Result in
            try await parts.index.read(atLeast: sequence) { snapshot throws(StatusError) in
                try body(snapshot, DocumentsAtTime(parts, at: readTime ?? snapshot.commitTime ?? .minimum))
            }
        }
        do throws(StatusError) {
            return try await read()
        } catch {
            guard let missing = error.cause as? HistoryNotAtHand else { throw error }
            _ = try await parts.history.view(after: missing.time)
            return try await read()
        }
    }
}
