import Concurrency
import DocumentModel
import DocumentStore

/// The documents as seen by one call, with its read consistency. A read-write transaction records what is read.
struct ReadView: Sendable {
    /// The point in time of all reads, or `nil` for the latest state.
    let readTime: Timestamp?
    private let store: any DocumentStore
    /// Records reads for validation at commit; `nil` outside read-write transactions.
    private let recorder: ReadRecorder?

    private struct ReadRecorder: Sendable {
        let id: TransactionID
        let transactions: TransactionRegistry
        let owner: Caller.Identity
        /// The sequence number of the last commit that the reads show.
        let sequence: SequenceNumber

        func record(_ read: (inout ReadSet) -> Void) throws(StatusError) {
            try transactions.recordRead(in: id, for: owner, read)
        }
    }

    /// Creates the view for a consistency; the first read of a read-write transaction pins its snapshot.
    init(_ consistency: ReadConsistency, in context: ServiceContext) async throws(StatusError) {
        try consistency.requireAccess(for: context.caller)
        store = context.store
        guard let id = consistency.transaction else {
            readTime = consistency.readTime
            recorder = nil
            return
        }
        let (transactions, owner) = (context.transactions, context.caller.identity)
        let (mode, pinned) = try transactions.state(of: id, for: owner)
        switch (consistency.readTime, mode) {
        case (let time?, _), (nil, .readOnly(let time)):
            readTime = time
            recorder = nil
        case (nil, .readWrite):
            var snapshot = pinned
            if snapshot == nil { snapshot = try transactions.pin(try await ReadSnapshot(of: context.store), in: id, for: owner) }
            readTime = snapshot?.time
            recorder = snapshot.map { ReadRecorder(id: id, transactions: transactions, owner: owner, sequence: $0.sequence) }
        }
    }

    /// Returns the document at a path, or `nil` if it does not exist.
    func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        let document = try await mappingHistoryErrors { () async throws(StatusError) in
            try await store.document(at: path, readTime: readTime)
        }
        try recorder?.record { $0.recordRead(document, at: path) }
        return document
    }

    /// Returns a scan of a collection for one page of a list.
    ///
    /// - Parameter pageSize: The size of the page that the client asks for.
    /// - Throws: ``StatusCode/invalidArgument`` if missing documents are requested in a read-write transaction: they depend on
    ///   more collections than its commit can validate.
    func scan(
        _ collection: CollectionPath,
        after: DocumentPath.ID?,
        pageSize: Int,
        includingMissing: Bool
    ) throws(StatusError) -> CollectionScan {
        if let recorder {
            guard !includingMissing else {
                throw StatusError(
                    .invalidArgument,
                    "A read-write transaction cannot list missing documents. Omit showMissing, or use a read-only transaction.",
                    path: collection.string
                )
            }
            try recorder.record { $0.recordListing(of: collection, after: recorder.sequence) }
        }
        let store = (store as? RulesStore)?.listing(pageSize: pageSize) ?? store
        return CollectionScan(collection, after: after, includingMissing: includingMissing, readTime: readTime, in: store)
    }

    /// Runs a query.
    func run(_ query: NormalizedQuery, maximumBytes: Int) async throws(StatusError) -> QueryResults {
        try record(query)
        return try await mappingHistoryErrors { () async throws(StatusError) in
            try await recordingQuery("query", metrics: \.metrics) { () async throws(StatusError) in
                try await store.run(query, maximumBytes: maximumBytes, readTime: readTime)
            }
        }
    }

    /// Runs an aggregation query.
    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations
    ) async throws(StatusError) -> AggregationResults {
        try record(query)
        return try await mappingHistoryErrors { () async throws(StatusError) in
            try await recordingQuery("aggregate", metrics: \.metrics) { () async throws(StatusError) in
                try await store.aggregate(query, aggregations, readTime: readTime)
            }
        }
    }

    /// Runs a query, and records it in the trace of the request if there is one.
    private func recordingQuery<Results>(
        _ name: String,
        metrics: (Results) -> QueryMetrics,
        _ body: () async throws(StatusError) -> Results
    ) async throws(StatusError) -> Results {
        guard let trace = RequestTrace.current else { return try await body() }
        let time = Stopwatch()
        do throws(StatusError) {
            let results = try await body()
            trace.recordQuery(name, time, .success(metrics(results)))
            return results
        } catch {
            trace.recordQuery(name, time, .failure(error))
            throw error
        }
    }

    private func record(_ query: NormalizedQuery) throws(StatusError) {
        guard let recorder else { return }
        try recorder.record { $0.recordQuery(of: query.source, after: recorder.sequence) }
    }

    /// Runs a read of the store.
    ///
    /// - Throws: ``StatusCode/aborted`` if the history that a transaction reads is no longer retained; clients retry the
    ///   transaction.
    func mappingHistoryErrors<Result>(_ body: () async throws(StatusError) -> Result) async throws(StatusError) -> Result {
        do throws(StatusError) {
            return try await body()
        } catch {
            guard error.code == .failedPrecondition, recorder != nil else { throw error }
            var aborted = StatusError(
                .aborted,
                "The history that the transaction reads is no longer retained. Retry the transaction.",
                path: error.path,
                cause: error
            )
            aborted.retryAfter = .zero
            throw aborted
        }
    }
}
