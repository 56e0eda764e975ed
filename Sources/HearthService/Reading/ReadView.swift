import DocumentModel
import DocumentStore

/// The documents as one call reads them: now, at a time, or in a transaction, which notes what is read.
struct ReadView: Sendable {
    /// The time that all reads show; nil for now.
    let readTime: Timestamp?
    private let store: any DocumentStore
    /// The transaction that notes the reads; nil where nothing is committed on their strength.
    private let session: Session?

    private struct Session: Sendable {
        let id: TransactionID
        let transactions: Transactions
        let owner: Caller.Identity
        /// The last commit that the reads show.
        let sequence: SequenceNumber

        func note(_ read: (inout ReadSet) -> Void) throws(StatusError) {
            try transactions.note(in: id, for: owner, read)
        }
    }

    /// Opens the view that a call asks for.
    init(_ point: ReadPoint, in context: ServiceContext) async throws(StatusError) {
        store = context.store
        guard let id = point.transaction else {
            readTime = point.readTime
            session = nil
            return
        }
        let (transactions, owner) = (context.transactions, context.caller.identity)
        let (mode, pinned) = try transactions.state(of: id, for: owner)
        switch (point.readTime, mode) {
        case (let time?, _), (nil, .readOnly(let time)):
            readTime = time
            session = nil
        case (nil, .readWrite):
            var snapshot = pinned
            if snapshot == nil { snapshot = try transactions.pin(try await Snapshot(of: context.store), in: id, for: owner) }
            readTime = snapshot?.time
            session = snapshot.map { Session(id: id, transactions: transactions, owner: owner, sequence: $0.sequence) }
        }
    }

    /// The document at `path`, or nil when there is none.
    func document(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        let document = try await reading { () async throws(StatusError) in
            try await store.document(at: path, readTime: readTime)
        }
        try session?.note { $0.note(document, at: path) }
        return document
    }

    /// Reads through a collection.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when missing documents are wanted in a transaction that may write: those depend
    ///   on more collections than its commit could check.
    func scan(
        _ collection: CollectionPath,
        after: DocumentID?,
        includingMissing: Bool
    ) throws(StatusError) -> CollectionScan {
        if let session {
            guard !includingMissing else {
                throw StatusError(
                    .invalidArgument,
                    "Missing documents can't be listed in a transaction that may write. Leave showMissing out, or use a read-only one.",
                    path: collection.string
                )
            }
            try session.note { $0.noteListing(of: collection, after: session.sequence) }
        }
        return CollectionScan(collection, after: after, includingMissing: includingMissing, readTime: readTime, in: store)
    }

    /// The documents that a query finds.
    func run(_ query: NormalizedQuery, maximumBytes: Int) async throws(StatusError) -> QueryAnswer {
        try note(query)
        return try await reading { () async throws(StatusError) in
            try await store.run(query, maximumBytes: maximumBytes, readTime: readTime)
        }
    }

    /// What aggregations make of the documents that a query finds.
    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations
    ) async throws(StatusError) -> AggregationAnswer {
        try note(query)
        return try await reading { () async throws(StatusError) in
            try await store.aggregate(query, aggregations, readTime: readTime)
        }
    }

    private func note(_ query: NormalizedQuery) throws(StatusError) {
        guard let session else { return }
        try session.note { $0.noteQuery(of: query.source, after: session.sequence) }
    }

    /// Runs a step that reads from the store.
    ///
    /// - Throws: ``StatusCode/aborted`` where a transaction reads what is no longer kept: it is to be run again.
    func reading<Result>(_ step: () async throws(StatusError) -> Result) async throws(StatusError) -> Result {
        do throws(StatusError) {
            return try await step()
        } catch {
            guard error.code == .failedPrecondition, session != nil else { throw error }
            var aborted = StatusError(
                .aborted,
                "So much was written meanwhile that what this transaction reads is no longer kept. Run all of it again.",
                path: error.path,
                cause: error
            )
            aborted.retryAfter = .zero
            throw aborted
        }
    }
}
