import DocumentModel
import DocumentStore
import UTF8Text

/// A store that enforces a caller's restriction to certain collections.
///
/// Methods reach the store only through this wrapper, so no method can omit the check.
struct RestrictedStore: DocumentStore {
    let base: any DocumentStore
    let caller: Caller

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try caller.requireAccess(to: path)
        return try await base.document(at: path, readTime: readTime)
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try caller.requireAccess(to: collection)
        return try await base.documents(
            in: collection,
            after: after,
            limit: limit,
            includingMissing: includingMissing,
            readTime: readTime
        )
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        guard let accessible = try caller.accessibleCollections(below: parent) else {
            return try await base.collections(under: parent, after: after, limit: limit, readTime: readTime)
        }
        var found: [CollectionID] = []
        for collection in accessible where after.map({ $0 < collection.id }) ?? true {
            guard found.count <= limit else { break }
            if try await containsDocuments(collection, readTime: readTime) { found.append(collection.id) }
        }
        let page = Array(found.prefix(limit))
        return CollectionPage(collections: page, next: found.count > limit ? page.last : nil)
    }

    /// Returns whether a collection or one of its subcollections contains a document.
    private func containsDocuments(_ collection: CollectionPath, readTime: Timestamp?) async throws(StatusError) -> Bool {
        let page = try await base.documents(in: collection, after: nil, limit: 1, includingMissing: true, readTime: readTime)
        return !page.documents.isEmpty || !page.damaged.isEmpty || page.next != nil
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        try caller.requireAccess(to: query)
        return try await concealingCounts { () async throws(StatusError) in
            try await base.run(query, maximumBytes: maximumBytes, readTime: readTime)
        }
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        try caller.requireAccess(to: query)
        return try await concealingCounts { () async throws(StatusError) in
            try await base.aggregate(query, aggregations, readTime: readTime)
        }
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        if let collection { try caller.requireAccess(to: collection) } else { try caller.requireAccessToDatabase() }
        return try await concealingCounts { () async throws(StatusError) in try await base.size(of: collection) }
    }

    /// Runs `body`. The error of a query during a rebuild of the index has the percentage only: the numbers of documents would
    /// disclose other collections.
    private func concealingCounts<Result>(_ body: () async throws(StatusError) -> Result) async throws(StatusError) -> Result {
        do throws(StatusError) {
            return try await body()
        } catch {
            throw caller.collections == nil ? error : error.concealingCounts
        }
    }

    /// Reports the state of the single-field indexes only. Document counts and index definitions would disclose other
    /// collections.
    func indexes() async -> IndexReport {
        var report = IndexReport()
        report.singleFields = await base.indexes().singleFields
        if case .building = report.singleFields { report.singleFields = .building(documents: 0) }
        return report
    }

    /// Requires access to the whole database: an index applies to all collections with a given ID.
    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try caller.requireAccessToDatabase()
        return try await base.changeIndexes(change)
    }

    /// Reports none: a quota is about all collections.
    func quota() async -> DatabaseQuota { DatabaseQuota() }

    func setQuota(_ quota: DatabaseQuota) async throws(StatusError) {
        try caller.requireAccessToDatabase()
        try await base.setQuota(quota)
    }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try caller.requireAccess(to: path)
        return try await base.history(of: path, before: before, limit: limit)
    }

    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        for (index, write) in writes.enumerated() {
            do throws(StatusError) {
                try caller.requireAccess(to: write.path)
            } catch {
                throw error.withWriteIndex(index)
            }
        }
        return try await base.commit(writes, validating: reads, by: author, identity: identity)
    }

    /// The commits, reduced to the changes in accessible collections; a commit may have no changes left.
    func commits(after sequence: SequenceNumber) -> CommitSequence {
        base.commits(after: sequence).mapped { [caller] in $0.restricted(to: caller) }
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        base.notify(after: sequence, body)
    }

    var position: StorePosition { base.position }

    var restartCount: Int { base.restartCount }

    func safePosition() async throws(StatusError) -> StorePosition {
        try await base.safePosition()
    }

    var localFiles: (any LocalFiles)? {
        get throws(StatusError) { try base.localFiles.map { RestrictedFiles(base: $0, caller: caller) } }
    }

    var writeBlockedReason: StatusError? {
        get async { await base.writeBlockedReason }
    }
}

extension StatusError {
    /// The error without the numbers of documents in the database.
    var concealingCounts: StatusError {
        guard let progress else { return self }
        let percentage = progress.percentage.map { ": \($0) % complete" } ?? ""
        var concealed = StatusError(.unavailable, "The index is being rebuilt\(percentage). Queries need it; try again later.")
        concealed.retryAfter = retryAfter
        return concealed
    }
}

/// The files of a store, with a caller's restriction to certain collections enforced.
private struct RestrictedFiles: LocalFiles {
    let base: any LocalFiles
    let caller: Caller

    func contents(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        try caller.requireAccess(to: path)
        return try await base.contents(of: path)
    }

    /// Returns `nil`: the report would disclose other collections.
    func storage() async -> StorageReport? { nil }

    func problems(limit: Int) async throws(StatusError) -> FileProblemReport {
        try caller.requireAccessToDatabase()
        return try await base.problems(limit: limit)
    }

    func acceptRemovedFiles() async throws(StatusError) {
        try caller.requireAccessToDatabase()
        try await base.acceptRemovedFiles()
    }
}

extension Commit {
    fileprivate func restricted(to caller: Caller) -> Commit {
        let changes = changes.filter { change in
            caller.collections?.contains { $0.covers(change.path.collection) } ?? true
        }
        return Commit(sequence: sequence, time: time, author: author, changes: changes)
    }
}
