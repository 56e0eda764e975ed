package import DocumentModel
package import DocumentStore
import Synchronization
import UTF8Text

/// An in-memory store whose reads and commits tests can interleave: the list of its commits, and the documents that they result in.
package final class MemoryStore: ClosableStore {
    fileprivate struct State {
        var documents: [DocumentPath: EncodedDocument] = [:]
        var commits: [Commit] = []
        /// The number of published commits; reads show unpublished ones too.
        var publishedCount = 0
        var discardedCount = 0
        var epoch: String
        var isClosed = false
        var waiters: [Int: (sequence: SequenceNumber, body: @Sendable () -> Void)] = [:]
        var notificationCount = 0
        var earlierWaiters: [@Sendable () -> Void] = []
        /// The latest time of a point-in-time read; later commits are after it.
        var lastReadTime: Timestamp
        var indexes = IndexReport()
        var indexCount = 0
        var receipts = CommitReceipts()
    }

    private let state: Mutex<State>
    private let database: DatabaseID?
    private let pageLimit: Int
    private let retainedCount: Int
    private let onRead: @Sendable (MemoryStore, _ readCount: Int) throws -> Void
    private let beforeQuery: @Sendable () async -> Void
    private let beforeLogRead: @Sendable () -> Void
    private let readCount = Atomic(0)

    /// Creates an empty store.
    ///
    /// - Parameters:
    ///   - identity: The database and its epoch; `nil` for a default database with the epoch `epoch`.
    ///   - pageLimit: The maximum number of documents on a page; small, so that a small collection takes several pages.
    ///   - retainedCount: The number of commits that are retained.
    ///   - earliestTime: A time before all commits.
    ///   - onRead: Called after each read of a page or a document, before the read returns.
    ///   - beforeQuery: Called before each query. The query fails if it was cancelled in the meantime.
    ///   - beforeLogRead: Called before commits are read from memory.
    package init(
        identity: DatabaseIdentity? = nil,
        pageLimit: Int = 2,
        retainedCount: Int = .max,
        earliestTime: Timestamp = .minimum,
        onRead: @escaping @Sendable (MemoryStore, Int) throws -> Void = { _, _ in },
        beforeQuery: @escaping @Sendable () async -> Void = {},
        beforeLogRead: @escaping @Sendable () -> Void = {}
    ) {
        database = identity?.id
        self.pageLimit = pageLimit
        self.retainedCount = retainedCount
        state = Mutex(State(epoch: identity?.epoch.description ?? "epoch", lastReadTime: earliestTime))
        self.onRead = onRead
        self.beforeQuery = beforeQuery
        self.beforeLogRead = beforeLogRead
    }

    /// Commits immediately. Without `publishing`, the commit is published by the next published one.
    @discardableResult
    package func apply(
        _ writes: [Write],
        validating reads: ReadSet = ReadSet(),
        by author: CommitAuthor? = nil,
        identity: CommitIdentity? = nil,
        publishing: Bool = true
    ) throws(StatusError) -> CommitResult {
        let (result, waiters) = try state.withLock { state throws(StatusError) in
            if state.isClosed { throw StatusError(.unavailable, "The store is closed.") }
            let result = try state.deciding(on: identity) { state throws(StatusError) in
                try state.validate(reads)
                return try state.apply(writes, by: author, identity)
            }
            return (result, publishing ? state.publish(retaining: retainedCount) : [])
        }
        for waiter in waiters { waiter() }
        return result
    }

    /// Sets a document to one field `v`.
    package func set(_ path: String, _ version: Int64) throws {
        try apply([.set(DocumentPath(path), ["v": .integer(version)])])
    }

    package func delete(_ path: String) throws {
        try apply([.delete(DocumentPath(path))])
    }

    /// Discards all but the last commits.
    package func discardHistory(keeping count: Int) {
        state.withLock { $0.discardedCount = max(0, $0.publishedCount - count) }
    }

    /// Changes the epoch, as a restore does.
    package func changeEpoch() {
        state.withLock { $0.epoch += "'" }
    }

    /// Opens the store again after ``close()``.
    func reopen() {
        state.withLock { $0.isClosed = false }
    }

    @discardableResult
    package func close() -> StatusError? {
        let waiters = state.withLock { state in
            state.isClosed = true
            defer { state.waiters.removeAll() }
            return state.waiters.values.map(\.body)
        }
        for waiter in waiters { waiter() }
        return nil
    }

    /// Notifies all earlier waiters again, like a delayed notification.
    package func notifyAgain() {
        for waiter in state.withLock({ $0.earlierWaiters.dropLast() }) { waiter() }
    }

    /// The number of watchers that wait for a commit.
    package var waiterCount: Int {
        state.withLock { $0.waiters.count }
    }

    /// The number of times that watchers have begun to wait for a commit.
    package var notificationCount: Int {
        state.withLock { $0.notificationCount }
    }

    package func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        let document = try state.withLock { state throws(StatusError) in try state.documents(at: readTime)[path] }
        try recordRead()
        return document
    }

    package func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        let all = try state.withLock { state throws(StatusError) in try state.documents(at: readTime) }
        var entries = all.values.filter { $0.path.collection == collection }.map(ListedDocument.document)
        if includingMissing { entries += all.missingDocuments(in: collection).map(ListedDocument.missing) }
        let rest = entries.filter { entry in after.map { entry.path.id > $0 } ?? true }.sorted { $0.path < $1.path }
        let page = rest.prefix(min(limit, pageLimit))
        try recordRead()
        return DocumentPage(documents: Array(page), next: rest.count > page.count ? page.last?.path.id : nil, damaged: [])
    }

    private func recordRead() throws(StatusError) {
        do {
            try onRead(self, readCount.add(1, ordering: .relaxed).newValue)
        } catch {
            throw error as? StatusError ?? StatusError(.internal, "\(error)")
        }
    }

    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        let all = try state.withLock { state throws(StatusError) in try state.documents(at: readTime) }
        let rest = all.collections(under: parent).filter { id in after.map { id > $0 } ?? true }
        let page = rest.prefix(limit)
        return CollectionPage(collections: Array(page), next: rest.count > page.count ? page.last : nil)
    }

    package func run(
        _ query: NormalizedQuery,
        maximumBytes: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> QueryResults {
        await beforeQuery()
        if Task.isCancelled { throw StatusError(.cancelled, "The query was cancelled.") }
        let (documents, time) = try snapshot(at: readTime)
        let found = try NaiveQuery(query: query).run(on: documents)
        guard found.reduce(0, { $0 + $1.fieldsJSON.count }) <= maximumBytes else {
            throw StatusError(.resourceExhausted, "The documents are larger than \(maximumBytes) bytes.")
        }
        try recordRead()
        return QueryResults(documents: found, readTime: time)
    }

    /// Returns all documents at a point in time or of the latest state, and the time.
    private func snapshot(at readTime: Timestamp?) throws(StatusError) -> ([EncodedDocument], Timestamp) {
        try state.withLock { state throws(StatusError) in
            (Array(try state.documents(at: readTime).values), readTime ?? state.commits.last?.time ?? .minimum)
        }
    }

    package func aggregate(
        _ query: NormalizedQuery,
        _ aggregations: NormalizedAggregations,
        readTime: Timestamp?
    ) async throws(StatusError) -> AggregationResults {
        let (documents, time) = try snapshot(at: readTime)
        var results = AggregationState(aggregations)
        for document in try NaiveQuery(query: query).matches(in: documents) { results.add(document.fields) }
        return AggregationResults(results: results.results, readTime: time)
    }

    package func size(of collection: CollectionPath?) async throws(StatusError) -> CollectionSize {
        var size = CollectionSize.zero
        for document in state.withLock(\.documents).values where collection.map({ $0 == document.path.collection }) ?? true {
            size.documentCount += 1
            size.byteCount += Document.size(of: try document.decoded().fields, at: document.path)
        }
        return size
    }

    package func indexes() async -> IndexReport { state.withLock(\.indexes) }

    package func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        try state.withLock { state throws(StatusError) in
            try state.change(change)
            return state.indexes
        }
    }

    package func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        let versions = state.withLock { state in
            // Retained changes, and the before-image of the first of them.
            let retained = state.commits.dropFirst(state.discardedCount)
            let changes = retained.compactMap { commit in commit.changes.first { $0.path == path }.map { (commit, $0) } }
            let oldest = changes.first?.1.before.map { DocumentVersion(commitTime: $0.updateTime, document: $0) }
            return (oldest.map { [$0] } ?? [])
                + changes.map { DocumentVersion(commitTime: $0.time, document: $1.after, author: $0.author) }
        }
        let rest = versions.reversed().filter { before == nil || $0.commitTime < before! }
        let page = rest.prefix(limit)
        return VersionPage(versions: Array(page), next: rest.count > page.count ? page.last?.commitTime : nil)
    }

    package func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        try apply(writes, validating: reads, by: author, identity: identity)
    }

    package func commits(after sequence: SequenceNumber) -> CommitSequence {
        CommitSequence(after: sequence) { position in
            self.beforeLogRead()
            return self.state.withLock { state in
                // Only the latest commits, so that both code paths are covered.
                guard !state.isClosed, (0...2).contains(state.publishedCount - Int(clamping: position.rawValue)) else {
                    return []
                }
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

    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        let id = state.withLock { state -> Int? in
            guard !state.isClosed, state.isAwaited(sequence) else { return nil }
            state.notificationCount += 1
            state.waiters[state.notificationCount] = (sequence, body)
            state.earlierWaiters.append(body)
            return state.notificationCount
        }
        if id == nil { body() }
        return CommitNotification { [self] in
            if let id { _ = state.withLock { $0.waiters.removeValue(forKey: id) } }
        }
    }

    package var position: StorePosition {
        state.withLock { state in
            StorePosition(
                database: database,
                epoch: state.epoch,
                lastSequence: SequenceNumber(UInt64(state.publishedCount)),
                lastCommitTime: state.publishedCount > 0 ? state.commits[state.publishedCount - 1].time : nil,
                oldestRetained: SequenceNumber(UInt64(state.discardedCount + 1))
            )
        }
    }

    package var restartCount: Int { 0 }

    package func safePosition() async throws(StatusError) -> StorePosition {
        let waiters = state.withLock { $0.publish(retaining: retainedCount) }
        for waiter in waiters { waiter() }
        return position
    }

    package var writeBlockedReason: StatusError? {
        get async { nil }
    }
}

extension MemoryStore.State {
    /// Returns the answer to a commit that is known, or that of `commit`.
    mutating func deciding(
        on identity: CommitIdentity?,
        _ commit: (inout Self) throws(StatusError) -> CommitResult
    ) throws(StatusError) -> CommitResult {
        guard let identity else { return try commit(&self) }
        var client = receipts[identity.client] ?? ClientReceipts()
        switch client.decision(on: identity) {
        case .answer(let outcome): return try outcome.get()
        case .evaluate: break
        }
        do throws(StatusError) {
            let result = try commit(&self)
            if let last = commits.last { receipts.record(last) }
            return result
        } catch {
            guard error.isFinalRefusal else { throw error.decided }
            client.record(identity, refusedWith: error.decided, at: commits.last?.time ?? .minimum)
            receipts.update(identity.client, client)
            throw error.decided
        }
    }

    mutating func apply(
        _ writes: [Write],
        by author: CommitAuthor?,
        _ identity: CommitIdentity?
    ) throws(StatusError) -> CommitResult {
        let sequence = SequenceNumber(UInt64(commits.count + 1))
        let lastTime = max(commits.last?.time ?? .minimum, lastReadTime).microseconds
        let time = try Timestamp(microseconds: max(Int64(commits.count + 1) * 1_000, lastTime + 1))
        if let authorization = author?.authorization {
            let read = { [documents] (path: DocumentPath) throws(StatusError) -> Document? in try documents[path]?.decoded() }
            try authorization.authorize(writes.proposed(at: time, reading: read), at: time, reading: read)
        }
        var results: [WriteResult] = []
        var changed = documents
        var paths: [DocumentPath] = []
        for (index, write) in writes.enumerated() {
            let current = try changed[write.path]?.decoded()
            let applied: (document: Document?, result: WriteResult, isChange: Bool)
            do throws(StatusError) {
                applied = try write.applied(to: current, at: time)
            } catch {
                throw error.withWriteIndex(index)
            }
            changed[write.path] = applied.document.map { EncodedDocument($0) }
            if applied.isChange, !paths.contains(write.path) { paths.append(write.path) }
            results.append(applied.result)
        }
        let changes = paths.compactMap { path in
            documents[path] == changed[path]
                ? nil
                : CommittedChange(
                    path: path,
                    before: documents[path],
                    after: changed[path],
                    existedBefore: documents[path] != nil
                )
        }
        documents = changed
        let receipt = identity.map { CommitReceipt($0, keeping: results) }
        if !changes.isEmpty || receipt != nil {
            commits.append(Commit(sequence: sequence, time: time, author: author?.keyID, changes: changes, receipt: receipt))
        }
        return CommitResult(sequence: changes.isEmpty ? nil : sequence, commitTime: time, writeResults: results)
    }

    /// Returns the documents at a point in time.
    mutating func documents(at time: Timestamp?) throws(StatusError) -> [DocumentPath: EncodedDocument] {
        guard let time else { return documents }
        guard time <= max(.current(), commits.last?.time ?? .minimum) else { throw .readTimeInFuture(time) }
        lastReadTime = max(lastReadTime, time)
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

    mutating func publish(retaining count: Int) -> [@Sendable () -> Void] {
        publishedCount = commits.count
        discardedCount = max(discardedCount, publishedCount - count)
        let due = waiters.filter { $0.value.sequence.rawValue < publishedCount }
        for id in due.keys { waiters[id] = nil }
        return due.values.map(\.body)
    }

    /// Returns whether the commit after a sequence number is the next to be published, or an unpublished one comes before it.
    func isAwaited(_ sequence: SequenceNumber) -> Bool {
        (publishedCount...commits.count).contains(Int(clamping: sequence.rawValue))
    }

    func commits(after sequence: SequenceNumber) throws(StatusError) -> [Commit] {
        if isAwaited(sequence) { return [] }
        guard (discardedCount...publishedCount).contains(Int(clamping: sequence.rawValue)) else {
            throw StatusError(.outOfRange, "discarded, or not yet published")
        }
        return Array(commits[Int(sequence.rawValue)..<publishedCount])
    }
}

extension MemoryStore.State {
    /// Changes the definitions; nothing has to be built.
    mutating func change(_ change: IndexChange) throws(StatusError) {
        switch change {
        case .create(let definition):
            guard !indexes.indexes.contains(where: { $0.definition == definition }) else { throw Self.definitionExists }
            indexCount += 1
            indexes.indexes.append((id: "\(indexCount)", definition: definition, buildState: .ready))
        case .delete(let id):
            guard let index = indexes.indexes.firstIndex(where: { UTF8Key($0.id) == UTF8Key(id) }) else {
                throw Self.noDefinition
            }
            indexes.indexes.remove(at: index)
        case .exempt(let exemption):
            guard !indexes.exemptions.contains(exemption) else { throw Self.definitionExists }
            indexes.exemptions.append(exemption)
        case .unexempt(let exemption):
            guard let index = indexes.exemptions.firstIndex(of: exemption) else { throw Self.noDefinition }
            indexes.exemptions.remove(at: index)
        }
    }

    private static let definitionExists = StatusError(.alreadyExists, "The definition exists.")
    private static let noDefinition = StatusError(.notFound, "There is no such definition.")
}

extension [DocumentPath: EncodedDocument] {
    /// The collections that contain a document, themselves or anywhere below, each with those above it.
    private var collections: Set<CollectionPath> {
        var found: Set<CollectionPath> = []
        for path in keys {
            var path: DocumentPath? = path
            while let document = path {
                found.insert(document.collection)
                path = document.collection.parent
            }
        }
        return found
    }

    fileprivate func collections(under parent: DocumentPath?) -> [CollectionID] {
        collections.filter { $0.parent == parent }.map(\.id).sorted()
    }

    fileprivate func missingDocuments(in collection: CollectionPath) -> [DocumentPath] {
        Set(collections.compactMap(\.parent)).filter { $0.collection == collection && self[$0] == nil }
    }
}
