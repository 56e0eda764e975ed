import DocumentModel
import DocumentStore
import Synchronization
import UTF8Text

/// An in-memory store whose reads and commits tests can interleave.
final class MemoryStore: DocumentStore {
    fileprivate struct State {
        var documents: [DocumentPath: EncodedDocument] = [:]
        var commits: [Commit] = []
        /// The number of published commits; reads show unpublished ones too.
        var publishedCount = 0
        var discardedCount = 0
        var epoch = "epoch"
        var isClosed = false
        var waiters: [Int: @Sendable () -> Void] = [:]
        var waiterCount = 0
        var earlierWaiters: [@Sendable () -> Void] = []
    }

    private let state = Mutex(State())
    private let onRead: @Sendable (MemoryStore, _ readCount: Int) throws -> Void
    private let beforeQuery: @Sendable () async -> Void
    private let readCount = Atomic(0)

    /// - Parameters:
    ///   - onRead: Called after each read of a page or a document, before the read returns.
    ///   - beforeQuery: Called before each query. The query fails if it was cancelled in the meantime.
    init(
        onRead: @escaping @Sendable (MemoryStore, Int) throws -> Void = { _, _ in },
        beforeQuery: @escaping @Sendable () async -> Void = {}
    ) {
        self.onRead = onRead
        self.beforeQuery = beforeQuery
    }

    /// Commits immediately. Without `publishing`, the commit is published by the next published one.
    @discardableResult
    func apply(
        _ writes: [Write],
        validating reads: ReadSet = ReadSet(),
        by author: UTF8Key? = nil,
        publishing: Bool = true
    ) throws(StatusError) -> CommitResult {
        let (result, waiters) = try state.withLock { state throws(StatusError) in
            try state.validate(reads)
            return (try state.apply(writes, by: author), publishing ? state.publish() : [])
        }
        for waiter in waiters { waiter() }
        return result
    }

    /// Sets a document to one field `v`.
    func set(_ path: String, _ version: Int64) throws {
        try apply([.set(DocumentPath(path), ["v": .integer(version)])])
    }

    func delete(_ path: String) throws {
        try apply([.delete(DocumentPath(path))])
    }

    /// Discards all but the last commits.
    func discardHistory(keeping count: Int) {
        state.withLock { $0.discardedCount = max(0, $0.publishedCount - count) }
    }

    /// Changes the epoch, as a restore does.
    func changeEpoch() {
        state.withLock { $0.epoch += "'" }
    }

    func close() {
        let waiters = state.withLock { state in
            state.isClosed = true
            return state.removeWaiters()
        }
        for waiter in waiters { waiter() }
    }

    /// Notifies all earlier waiters again, like a delayed notification.
    func notifyAgain() {
        for waiter in state.withLock({ $0.earlierWaiters.dropLast() }) { waiter() }
    }

    /// The number of watchers that wait for a commit.
    var waiterCount: Int {
        state.withLock { $0.waiters.count }
    }

    func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        let document = try state.withLock { state throws(StatusError) in try state.documents(at: readTime)[path] }
        try recordRead()
        return document
    }

    func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        let documents = try state.withLock { state throws(StatusError) in
            try state.documents(at: readTime).values
                .filter { $0.path.collection == collection && (after == nil || $0.path.id > after!) }
                .sorted { $0.path < $1.path }
        }
        // Small pages, so that a small collection takes several.
        let page = documents.prefix(min(limit, 2))
        let next = documents.count > page.count ? page.last?.path.id : nil
        try recordRead()
        return DocumentPage(documents: page.map(ListedDocument.document), next: next, damaged: [])
    }

    private func recordRead() throws(StatusError) {
        do {
            try onRead(self, readCount.add(1, ordering: .relaxed).newValue)
        } catch {
            throw error as? StatusError ?? StatusError(.internal, "\(error)")
        }
    }

    func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        CollectionPage(collections: [], next: nil)
    }

    func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        await beforeQuery()
        if Task.isCancelled { throw StatusError(.cancelled, "The query was cancelled.") }
        let documents = try state.withLock { state throws(StatusError) in Array(try state.documents(at: readTime).values) }
        var matches: [(document: EncodedDocument, key: NormalizedQuery.SortKey)] = []
        for document in documents where query.source.contains(document.path) {
            guard let key = query.match(try document.decoded().fields, at: document.path) else { continue }
            matches.append((document, key))
        }
        let sorted = matches.sorted { query.compare($0.key, $1.key) == .less }.map(\.document)
        let found = sorted.dropFirst(query.offset).prefix(query.limit ?? .max)
        try recordRead()
        return QueryResults(
            documents: query.isReversed ? found.reversed() : Array(found),
            readTime: readTime ?? position.lastCommitTime ?? .minimum
        )
    }

    func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        let queryResults = try await run(query, maximumBytes: .max, readTime: readTime)
        var state = AggregationState(aggregations)
        for document in queryResults.documents { state.add(try document.decoded().fields) }
        return AggregationResults(results: state.results, readTime: queryResults.readTime)
    }

    func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        var size = CollectionSize.zero
        for document in state.withLock(\.documents).values where collection.map({ $0 == document.path.collection }) ?? true {
            size.documentCount += 1
            size.byteCount += Document.size(of: try document.decoded().fields, at: document.path)
        }
        return size
    }

    func indexes() async -> IndexReport { IndexReport() }

    func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport { IndexReport() }

    func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        let versions = state.withLock { state in
            state.commits.reversed().compactMap { commit in
                commit.changes.first { $0.path == path }.map {
                    DocumentVersion(commitTime: commit.time, document: $0.after, author: commit.author)
                }
            }
        }
        .filter { before == nil || $0.commitTime < before! }
        let page = versions.prefix(limit)
        return VersionPage(versions: Array(page), next: versions.count > page.count ? page.last?.commitTime : nil)
    }

    func commit(_ writes: [Write], validating reads: ReadSet, by author: UTF8Key?) async throws(StatusError) -> CommitResult {
        try apply(writes, validating: reads, by: author)
    }

    func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { position in
            self.state.withLock { state in
                // Only the latest commits, so that both code paths are covered.
                guard !state.isClosed, (0...2).contains(state.publishedCount - Int(position.rawValue)) else { return [] }
                return (try? state.commits(after: position)) ?? []
            }
        } source: { position throws(StatusError) in
            while !Task.isCancelled {
                let (commits, isClosed) = try self.state.withLock { state throws(StatusError) in
                    (try state.commits(after: position), state.isClosed)
                }
                if isClosed { return nil }
                if !commits.isEmpty { return commits }
                await Task.yield()
            }
            return nil
        }
    }

    func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let id = state.withLock { state -> Int? in
            if state.isClosed || state.publishedCount != Int(sequence.rawValue) { return nil }
            state.waiterCount += 1
            state.waiters[state.waiterCount] = body
            state.earlierWaiters.append(body)
            return state.waiterCount
        }
        if id == nil { body() }
        return CommitNotification { [self] in
            if let id { _ = state.withLock { $0.waiters.removeValue(forKey: id) } }
        }
    }

    var position: StorePosition {
        state.withLock { state in
            StorePosition(
                epoch: state.epoch,
                lastSequence: SequenceNumber(UInt64(state.publishedCount)),
                lastCommitTime: state.publishedCount > 0 ? state.commits[state.publishedCount - 1].time : nil,
                oldestRetained: SequenceNumber(UInt64(state.discardedCount + 1))
            )
        }
    }

    func safePosition() async throws(StatusError) -> StorePosition {
        try apply([])
        return position
    }

    var writeBlockedReason: StatusError? {
        get async { nil }
    }
}

extension MemoryStore.State {
    mutating func apply(_ writes: [Write], by author: UTF8Key?) throws(StatusError) -> CommitResult {
        let sequence = SequenceNumber(UInt64(commits.count + 1))
        let time = try Timestamp(microseconds: Int64(commits.count + 1) * 1_000)
        var results: [WriteResult] = []
        var changed = documents
        var paths: [DocumentPath] = []
        for write in writes {
            let applied = try write.applied(to: try changed[write.path]?.decoded(), at: time)
            changed[write.path] = applied.document.map { EncodedDocument($0) }
            if applied.isChange, !paths.contains(write.path) { paths.append(write.path) }
            results.append(applied.result)
        }
        let changes = paths.compactMap { path in
            documents[path] == nil && changed[path] == nil
                ? nil
                : CommittedChange(
                    path: path,
                    before: documents[path],
                    after: changed[path],
                    existedBefore: documents[path] != nil
                )
        }
        documents = changed
        guard !changes.isEmpty else { return CommitResult(sequence: nil, commitTime: time, writeResults: results) }
        commits.append(Commit(sequence: sequence, time: time, author: author, changes: changes))
        return CommitResult(sequence: sequence, commitTime: time, writeResults: results)
    }

    /// Returns the documents at a point in time.
    func documents(at time: Timestamp?) throws(StatusError) -> [DocumentPath: EncodedDocument] {
        guard let time else { return documents }
        if discardedCount > 0, time < commits[discardedCount - 1].time { throw StatusError(.failedPrecondition, "discarded") }
        var documents: [DocumentPath: EncodedDocument] = [:]
        for commit in commits.prefix(while: { $0.time <= time }) {
            for change in commit.changes { documents[change.path] = change.after }
        }
        return documents
    }

    func validate(_ reads: ReadSet) throws(StatusError) {
        try reads.validate {
            documents[$0]?.updateTime
        } lastChange: { scope in
            commits.last { commit in
                commit.changes.contains { change in
                    switch scope {
                    case .collection(let collection): change.path.collection == collection
                    case .group(let id): change.path.collection.id == id
                    case .database: true
                    }
                }
            }?.sequence ?? .zero
        }
    }

    mutating func publish() -> [@Sendable () -> Void] {
        publishedCount = commits.count
        return removeWaiters()
    }

    mutating func removeWaiters() -> [@Sendable () -> Void] {
        defer { waiters.removeAll() }
        return Array(waiters.values)
    }

    func commits(after sequence: SequenceNumber) throws(StatusError) -> [Commit] {
        guard sequence.rawValue >= discardedCount else {
            throw StatusError(.outOfRange, "discarded")
        }
        return Array(commits[Int(sequence.rawValue)..<publishedCount])
    }
}
