import DocumentModel
import DocumentStore
import UTF8Text

/// The state machine of a stream that watches a query.
///
/// The initial state is the query result at one commit. Each later commit is matched against the query. For an ordered or limited
/// query, the state holds the sort key of each document in the result, and runs the query again at the commit if a document from
/// beyond the limit may have moved in. For any other query, the before- and after-images of a document show whether it has been
/// added or removed, so the memory use does not grow with the result.
struct QueryWatchState: Sendable {
    let watched: PreparedWatchQuery
    private let database: DatabaseID?
    let epoch: String
    /// The sequence number and time of the last applied commit.
    private(set) var sequence: SequenceNumber
    private(set) var time: Timestamp
    /// The commit up to which all commits must be applied before the watcher is current.
    let barrier: SequenceNumber
    private var phase: Phase
    /// The number of documents in the result, or `nil` if unknown.
    private(set) var count: Int?
    /// The result of an ordered query; `nil` for other queries.
    private var result: OrderedResult?

    private enum Phase {
        /// The initial state is being read; documents up to this key have been sent.
        case reading(after: NormalizedQuery.SortKey?)
        /// The initial state has been sent.
        case read
        /// The result at the resume token has yet to be restored.
        case restoring
        case current
    }

    /// The maximum number of documents on the next page of the initial state: fewer while they are large.
    private var pageSize = maximumPageSize
    private static let maximumPageSize = 256
    /// The maximum total size of the documents on a page, unless it has only one.
    private static let maximumPageBytes = 1 << 20
    /// The maximum number of documents in an ordered result.
    private static let maximumResultCount = 100_000
    /// The maximum total size of the documents in an ordered result.
    private static let maximumResultBytes = 16 << 20

    /// Creates the state of a new stream.
    init(_ watched: PreparedWatchQuery, at position: StorePosition) {
        self.watched = watched
        database = position.database
        epoch = position.epoch
        sequence = position.lastSequence
        time = position.lastCommitTime ?? .minimum
        barrier = sequence
        phase = .reading(after: nil)
        count = 0
    }

    /// Creates the state of a resumed stream, whose watcher has the result at a token.
    init(_ watched: PreparedWatchQuery, resumingAfter token: ResumeToken, at position: StorePosition) {
        self.watched = watched
        database = position.database
        epoch = position.epoch
        sequence = token.sequence
        time = token.time
        barrier = position.lastSequence
        phase = watched.isOrdered ? .restoring : .current
        count = nil
    }
}

extension QueryWatchState {
    /// Advances a live stream past commits whose frames were read for another stream with the same target. Not for ordered queries.
    mutating func advance(through sequence: SequenceNumber, at time: Timestamp, addedCount: Int) {
        self.sequence = sequence
        self.time = time
        count = count.map { $0 + addedCount }
    }

    /// True if all commits from before the start of the stream have been applied.
    var isCaughtUp: Bool { sequence >= barrier }

    /// Returns the frame that completes the initial state, once; `nil` while the state is incomplete.
    mutating func current() -> OutgoingWatchFrame? {
        guard case .read = phase, let count else { return nil }
        phase = .current
        return .current(sequence: sequence, count: count, token: token)
    }

    /// The heartbeat frame, or `nil` while the initial state is incomplete.
    var heartbeat: OutgoingWatchFrame? {
        resumeToken.map { .heartbeat(sequence: sequence, count: count, token: $0) }
    }

    /// The resume token after the last commit, or `nil` while the initial state is incomplete.
    var resumeToken: ResumeToken? {
        if case .current = phase { token } else { nil }
    }

    private var token: ResumeToken {
        ResumeToken(target: .query(watched), database: database, epoch: epoch, sequence: sequence, time: time)
    }
}

// Initial state.
extension QueryWatchState {
    /// Reads the next page of the initial state.
    mutating func read(from store: any DocumentStore) async throws(StatusError) -> [OutgoingWatchFrame] {
        let page = try await readPage(from: store)
        return page.changes.map { .change($0, position: nil) } + page.damaged.map { .damaged($0) }
    }

    /// Reads the next page of the initial state: its documents, and the errors of those that cannot be read.
    mutating func readPage(
        from store: any DocumentStore
    ) async throws(StatusError) -> (changes: [OutgoingWatchFrame.Change], damaged: [StatusError]) {
        guard case .reading(let last) = phase else { return ([], []) }
        if watched.isOrdered {
            let (result, queryResults) = try await runOrdered(in: store)
            self.result = result
            count = result.count
            phase = .read
            return (try changes(of: queryResults), queryResults.damaged)
        }
        let queryResults = try await readPage(after: last, from: store)
        count = count.map { $0 + queryResults.documents.count }
        if queryResults.documents.count == pageSize, let document = queryResults.documents.last,
            let key = try watched.sortKey(of: document)
        {
            phase = .reading(after: key)
            pageSize = min(2 * pageSize, Self.maximumPageSize)
        } else {
            phase = .read
        }
        return (try changes(of: queryResults), queryResults.damaged)
    }

    /// Reads a page, with fewer documents if they are large.
    private mutating func readPage(
        after last: NormalizedQuery.SortKey?,
        from store: any DocumentStore
    ) async throws(StatusError) -> QueryResults {
        while pageSize > 1 {
            do throws(StatusError) {
                return try await store.run(
                    watched.query.page(after: last, limit: pageSize),
                    maximumBytes: Self.maximumPageBytes,
                    readTime: time
                )
            } catch  where error.code == .resourceExhausted {
                // Never 0, with which a page would look like the last one.
                pageSize = max(1, pageSize / 4)
            }
        }
        return try await store.run(
            watched.query.page(after: last, limit: 1),
            maximumBytes: Self.maximumResultBytes,
            readTime: time
        )
    }

    /// Restores the result at the resume token, if later commits have to be compared with it.
    mutating func restore(from store: any DocumentStore) async throws(StatusError) {
        guard case .restoring = phase else { return }
        let (result, _) = try await runOrdered(in: store)
        self.result = result
        count = result.count
        phase = .current
    }

    private func changes(of queryResults: QueryResults) throws(StatusError) -> [OutgoingWatchFrame.Change] {
        var changes: [OutgoingWatchFrame.Change] = []
        changes.reserveCapacity(queryResults.documents.count)
        for (index, document) in queryResults.documents.enumerated() {
            changes.append(
                OutgoingWatchFrame.Change(
                    .added,
                    document.path,
                    try watched.projected(document),
                    newIndex: watched.isOrdered ? index : nil
                )
            )
        }
        return changes
    }

    /// Runs the query at the last applied commit.
    private func runOrdered(in store: any DocumentStore) async throws(StatusError) -> (OrderedResult, QueryResults) {
        let queryResults = try await store.run(watched.query, maximumBytes: Self.maximumResultBytes, readTime: time)
        var result = OrderedResult(of: watched)
        for document in queryResults.documents {
            guard let key = try watched.sortKey(of: document) else { continue }
            result.insert(document.path, key)
        }
        return (result, queryResults)
    }
}

// The result, whether or not it has been sent.
extension QueryWatchState {
    /// Returns the number of documents in the result as of the last applied commit.
    func resultCount(in store: any DocumentStore) async throws(StatusError) -> Int {
        if let result { return result.count }
        let count = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "count")])
        let results = try await store.aggregate(watched.query, count, readTime: time).results
        guard case .integer(let number)? = results["count"] else {
            throw StatusError(.internal, "The count query returned no number.")
        }
        return Int(number)
    }

    /// Returns the paths of the documents in the result as of the last applied commit.
    func paths(in store: any DocumentStore) async throws(StatusError) -> [DocumentPath] {
        if let result { return Array(result.paths) }
        return try await store.run(
            watched.query.ofNames,
            maximumBytes: Self.maximumResultBytes,
            readTime: time
        ).documents.map(\.path)
    }
}

// Commits.
extension QueryWatchState {
    /// Applies the next commit and returns its frames; `nil` if it changes an ordered result and
    /// ``applyToOrderedResult(_:from:)`` is required.
    mutating func apply(_ commit: Commit) throws(StatusError) -> [OutgoingWatchFrame]? {
        guard let changes = try resultChanges(applying: commit) else { return nil }
        return frames(of: commit, changes)
    }

    /// Applies the next commit to an ordered result and returns its frames.
    mutating func applyToOrderedResult(
        _ commit: Commit,
        from store: any DocumentStore
    ) async throws(StatusError) -> [OutgoingWatchFrame] {
        let changes = try await orderedResultChanges(applying: commit, from: store)
        return frames(of: commit, changes)
    }

    /// Applies the next commit and returns its changes to the result; `nil` if it changes an ordered result and
    /// ``orderedResultChanges(applying:from:)`` is required.
    mutating func resultChanges(applying commit: Commit) throws(StatusError) -> [OutgoingWatchFrame.Change]? {
        let changes = changes(of: commit)
        guard changes.isEmpty || result == nil else { return nil }
        sequence = commit.sequence
        time = commit.time
        let resultChanges = try unorderedChanges(changes)
        return try projected(resultChanges)
    }

    /// Applies the next commit to an ordered result and returns its changes to the result.
    mutating func orderedResultChanges(
        applying commit: Commit,
        from store: any DocumentStore
    ) async throws(StatusError) -> [OutgoingWatchFrame.Change] {
        sequence = commit.sequence
        time = commit.time
        let changes = try await orderedChanges(changes(of: commit), in: store)
        return try projected(changes)
    }

    private func changes(of commit: Commit) -> [CommittedChange] {
        commit.changes.filter { watched.query.source.contains($0.path) }
    }

    private func frames(of commit: Commit, _ changes: [OutgoingWatchFrame.Change]) -> [OutgoingWatchFrame] {
        changes.isEmpty ? [] : commit.frames(changes, token: resumeToken)
    }

    private func projected(_ changes: [OutgoingWatchFrame.Change]) throws(StatusError) -> [OutgoingWatchFrame.Change] {
        guard watched.hasProjection else { return changes }
        var changes = changes
        for index in changes.indices {
            changes[index].document = try changes[index].document.map { document throws(StatusError) in
                try watched.projected(document)
            }
            changes[index].before = try changes[index].before.map { document throws(StatusError) in
                try watched.projected(document)
            }
        }
        return changes
    }

    private mutating func unorderedChanges(_ changes: [CommittedChange]) throws(StatusError) -> [OutgoingWatchFrame.Change] {
        var result: [OutgoingWatchFrame.Change] = []
        for change in changes {
            let wasIn =
                try change.before.map { document throws(StatusError) in try watched.sortKey(of: document) != nil } ?? false
            let isIn = try change.after.map { document throws(StatusError) in try watched.sortKey(of: document) != nil } ?? false
            switch (wasIn, isIn) {
            case (false, false): continue
            case (false, true): result.append(OutgoingWatchFrame.Change(.added, change.path, change.after))
            case (true, true):
                result.append(OutgoingWatchFrame.Change(.modified, change.path, change.after, before: change.before))
            case (true, false):
                result.append(OutgoingWatchFrame.Change(change.removalKind, change.path, change.after, before: change.before))
            }
            count = count.map { $0 + (isIn ? 1 : 0) - (wasIn ? 1 : 0) }
        }
        return result
    }

    private mutating func orderedChanges(
        _ changes: [CommittedChange],
        in store: any DocumentStore
    ) async throws(StatusError) -> [OutgoingWatchFrame.Change] {
        guard let old = result, watched.query.limit != 0 else { return [] }
        var new = old
        var diff = OrderedResultDiff(changes)
        for change in changes where new.remove(change.path) != nil { diff.paths.insert(change.path) }
        for change in changes {
            guard let document = change.after, let key = try watched.sortKey(of: document) else { continue }
            new.insert(change.path, key)
            diff.paths.insert(change.path)
        }
        if old.mayLackDocuments(after: new), !diff.paths.isEmpty || watched.query.offset > 0 {
            let (current, queryResults) = try await runOrdered(in: store)
            new = current
            diff.paths.formUnion(old.paths)
            diff.paths.formUnion(current.paths)
            diff.add(queryResults.documents)
        } else {
            diff.paths.formUnion(new.truncate())
        }
        guard new.count <= Self.maximumResultCount else {
            throw StatusError(
                .resourceExhausted,
                "The result exceeds \(Self.maximumResultCount) documents, the maximum for a watched query with a sort order. "
                    + "Add a limit, or omit the sort order."
            )
        }
        result = new
        count = new.count
        return diff.changes(from: old, to: new)
    }
}

extension CommittedChange {
    /// The kind of change by which the document leaves a result.
    var removalKind: OutgoingWatchFrame.Change.Kind { after == nil ? .deleted : .removed }
}
