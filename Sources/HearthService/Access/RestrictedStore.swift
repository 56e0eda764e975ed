import DocumentModel
import DocumentStore
import StrictJSON

/// A store as a caller may use it whose key is for some collections only.
///
/// Every path that a method takes to the store passes through here, so no method can forget to look at one.
struct RestrictedStore: DocumentStore {
    let base: any DocumentStore
    let caller: Caller

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        try caller.check(path)
        return try await base.document(at: path, readTime: readTime)
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        try caller.check(collection)
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
        guard let usable = try caller.usableCollections(below: parent) else {
            return try await base.collections(under: parent, after: after, limit: limit, readTime: readTime)
        }
        var found: [CollectionID] = []
        for collection in usable where after.map({ $0 < collection.id }) ?? true {
            guard found.count <= limit else { break }
            if try await isListed(collection, readTime: readTime) { found.append(collection.id) }
        }
        let page = Array(found.prefix(limit))
        return CollectionPage(collections: page, next: found.count > limit ? page.last : nil)
    }

    /// Whether a document exists in a collection, or anywhere below it.
    private func isListed(_ collection: CollectionPath, readTime: Timestamp?) async throws(StatusError) -> Bool {
        let page = try await base.documents(in: collection, after: nil, limit: 1, includingMissing: true, readTime: readTime)
        return !page.documents.isEmpty || !page.damaged.isEmpty || page.next != nil
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryAnswer {
        try caller.check(query)
        return try await base.run(query, maximumBytes: maximumBytes, readTime: readTime)
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationAnswer {
        try caller.check(query)
        return try await base.aggregate(query, aggregations, readTime: readTime)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        if let collection { try caller.check(collection) } else { try caller.checkAll(below: nil) }
        return try await base.size(of: collection)
    }

    /// Whether the index is there, but not what is in it, nor which collections have more: all of that tells of other ones too.
    func indexes() async -> IndexReport {
        var report = IndexReport()
        report.fields = await base.indexes().fields
        if case .building = report.fields { report.fields = .building(documents: 0) }
        return report
    }

    /// Indexes are for all collections of an ID, wherever they are.
    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try caller.checkAll(below: nil)
        return try await base.changeIndexes(change)
    }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try caller.check(path)
        return try await base.history(of: path, before: before, limit: limit)
    }

    func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: UTF8Key?
    ) async throws(StatusError) -> CommitResult {
        for (index, write) in writes.enumerated() {
            do throws(StatusError) {
                try caller.check(write.path)
            } catch {
                throw error.ofWrite(at: index)
            }
        }
        return try await base.commit(writes, validating: reads, by: author)
    }

    /// The commits without what they changed elsewhere; one may have nothing left in it.
    func commits(after sequence: SequenceNumber) -> CommitSequence {
        base.commits(after: sequence).mapped { [caller] in $0.restricted(to: caller) }
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        base.notify(after: sequence, body)
    }

    var position: StorePosition { base.position }

    func settledPosition() async throws(StatusError) -> StorePosition {
        try await base.settledPosition()
    }

    func file(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        try caller.check(path)
        return try await base.file(of: path)
    }

    /// It tells of other collections too.
    func storage() async -> StorageReport? { nil }

    var writeObstacle: StatusError? {
        get async { await base.writeObstacle }
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
