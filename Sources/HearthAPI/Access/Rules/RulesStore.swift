import DocumentModel
import DocumentStore
import SecurityRules
import UTF8Text

/// A store that lets an end user do what the rules of the database allow.
///
/// Methods reach the store only through this wrapper, so no method can omit the decision. Everything that rules know nothing of is
/// denied: history, the names of collections, sizes, indexes and files.
struct RulesStore: DocumentStore {
    let base: any DocumentStore
    let gate: RulesGate
    /// The size of the pages of lists, which rules see as `request.query.limit`; `nil` for that of each batch.
    private(set) var pageSize: Int?

    init(base: any DocumentStore, gate: RulesGate) {
        self.base = base
        self.gate = gate
    }

    /// Returns the store for reading one page of a list, which may take several batches.
    func listing(pageSize: Int) -> RulesStore {
        var store = self
        store.pageSize = pageSize
        return store
    }

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        let document = try await gate.concealingDamage { () async throws(StatusError) in
            try await base.document(at: path, readTime: readTime)
        }
        let decision = try await gate.requireReadAccess(to: path, document, reading: reader(at: readTime))
        guard !decision.accesses.isEmpty, readTime == nil else { return document }
        // The document and those that the rules have read may be of different times, unless it is the same before and after.
        let isUnchanged = try await gate.concealingDamage { () async throws(StatusError) in
            try await base.document(at: path)?.updateTime == document?.updateTime
        }
        if decision.accesses.count == 1, isUnchanged { return document }
        return try await self.document(at: path, readTime: ReadSnapshot(of: base).time)
    }

    /// Lists documents as a query with a limit would. Unreadable ones are not reported.
    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        guard !includingMissing else {
            throw .closedToEndUsers("The list includes documents that do not exist, which requires an API key.")
        }
        let query = try NormalizedQuery(StructuredQuery(.collection(collection), limit: .first(pageSize ?? limit)))
        let grant = try await gate.requireReadAccess(to: query, reading: reader(at: readTime))
        let page = try await base.documents(
            in: collection,
            after: after,
            limit: limit,
            includingMissing: false,
            readTime: readTime
        )
        try await confirm(grant, about: query, at: readTime)
        return DocumentPage(documents: page.documents, next: page.next, damaged: [])
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        let grant = try await gate.requireReadAccess(to: query, reading: reader(at: readTime))
        let results = try await concealingOthers { () async throws(StatusError) in
            try await base.run(query, maximumBytes: maximumBytes, readTime: readTime)
        }
        try await confirm(grant, about: query, at: results.readTime)
        if gate.rules.explainsDenials { try await verifyProof(of: query, results, readTime: readTime) }
        return QueryResults(documents: results.documents, readTime: results.readTime)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        let grant = try await gate.requireReadAccess(to: query, reading: reader(at: readTime))
        let results = try await concealingOthers { () async throws(StatusError) in
            try await base.aggregate(query, aggregations, readTime: readTime)
        }
        try await confirm(grant, about: query, at: results.readTime)
        return AggregationResults(results: results.results, readTime: results.readTime)
    }

    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        var author = author ?? CommitAuthor()
        author.authorization = RulesAuthorization(gate: gate)
        return try await gate.concealingDamage { () async throws(StatusError) in
            try await base.commit(writes, validating: reads, by: author, identity: identity)
        }
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        throw .closedToEndUsers("Listing collections requires an API key.")
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        throw .closedToEndUsers("The size of a collection requires an API key.")
    }

    func indexes() async -> IndexReport { IndexReport() }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        throw .closedToEndUsers("Changing indexes requires an API key.")
    }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        throw .closedToEndUsers("The history of documents requires an API key.")
    }

    /// Ends at once: streams read commits from the store beneath, for targets to which they have been granted access.
    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence, memory: { _ in [] }, source: { _ throws(StatusError) in nil })
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        base.notify(after: sequence, body)
    }

    var position: StorePosition { base.position }

    var restartCount: Int { base.restartCount }

    func safePosition() async throws(StatusError) -> StorePosition {
        try await base.safePosition()
    }

    var writeBlockedReason: StatusError? {
        get async { await base.writeBlockedReason }
    }

    /// Reads the documents that rules need, as of the time of the request.
    private func reader(at readTime: Timestamp?) -> (DocumentPath) async throws(StatusError) -> MapValue? {
        { path throws(StatusError) in try await base.document(at: path, readTime: readTime)?.decoded().fields }
    }

    /// Makes a decision again if it depends on documents, which may have changed until the query was run, or if other rules decide
    /// now.
    private func confirm(
        _ grant: (decision: RulesDecision, version: UTF8Key),
        about query: NormalizedQuery,
        at readTime: Timestamp?
    ) async throws(StatusError) {
        guard !grant.decision.accesses.isEmpty || gate.rules.active?.version != grant.version else { return }
        try await gate.requireReadAccess(to: query, reading: reader(at: readTime))
    }

    /// Runs `body`. Its error tells nothing of the rest of the database.
    private func concealingOthers<Result>(_ body: () async throws(StatusError) -> Result) async throws(StatusError) -> Result {
        do throws(StatusError) {
            return try await body()
        } catch {
            throw error.concealingDamage.concealingCounts
        }
    }

    /// Checks that rules allow each result of a query that they have allowed as a whole: a test of the proof, for nothing.
    private func verifyProof(
        of query: NormalizedQuery,
        _ results: QueryResults,
        readTime: Timestamp?
    ) async throws(StatusError) {
        guard query.returnsWholeDocuments else { return }
        let list = ListQuery(query, orders: query.orders.filter { !$0.isByName })
        for document in results.documents {
            do throws(StatusError) {
                let fields = try document.decoded().fields
                try await gate.requireGrant(.listed(document.path, stored: fields, list), reading: reader(at: readTime))
            } catch  where error.code == .permissionDenied {
                throw StatusError(
                    .internal,
                    "Rules allow a query but not its result \(document.path.escapedString): \(error.message)"
                )
            }
        }
    }
}
