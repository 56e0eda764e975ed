import DocumentModel
import DocumentStore

/// A target of a ``ListenSession`` and what has been sent of it.
struct ListenedTarget: Sendable {
    enum Phase: Sendable {
        /// Its state has yet to be sent.
        case waiting
        /// Its state is being read, as of the position of the session.
        case reading(State)
        /// The changes since its resume token are being read; those up to a sequence number have been coalesced.
        case resuming(State, Commit?, through: SequenceNumber)
        /// Each commit of the session is applied to it.
        case live(State)
    }

    /// The state machine of a target.
    enum State: Sendable {
        case query(QueryWatchState)
        case documents(DocumentsListenState)
    }

    private(set) var target: ListenTarget
    var phase = Phase.waiting
    /// True if what has been sent is void, because the session fell behind the retained commits.
    private(set) var isReset = false
    /// The documents of a target of documents.
    private let paths: Set<DocumentPath>
    /// The commits that must have been applied to all other targets before its state is read.
    var barrier: SequenceNumber?
    /// The access of an end user; `nil` for other callers.
    var access: TargetAccess?

    init(_ target: ListenTarget, access: TargetAccess?) {
        self.target = target
        self.access = access
        if case .documents(let documents) = target.source { paths = Set(documents) } else { paths = [] }
    }

    var isLive: Bool {
        if case .live = phase { true } else { false }
    }

    /// True if it has not been found yet whether it can be resumed, or its changes are being read.
    var isResuming: Bool {
        switch phase {
        case .waiting: target.resume != nil
        case .resuming: true
        case .reading, .live: false
        }
    }

    /// True if a part of its state has been sent.
    var hasSentState: Bool {
        switch phase {
        case .reading, .live: true
        case .waiting, .resuming: false
        }
    }

    /// Begins anew, with nothing that has been sent.
    mutating func restart() {
        phase = .waiting
        barrier = nil
        isReset = true
        target.resume = nil
    }

    mutating func makeLive(_ state: State) {
        phase = .live(state)
        isReset = false
        barrier = nil
    }

    /// True if its query is run again at every commit that touches its source.
    var isRunAtEveryCommit: Bool {
        guard isLive, case .query(let watched) = target.source else { return false }
        return watched.isRunAtEveryCommit
    }

    /// Returns whether a document with this path can belong to the target.
    func contains(_ path: DocumentPath) -> Bool {
        switch target.source {
        case .query(let watched): watched.query.source.contains(path)
        case .documents: paths.contains(path)
        }
    }

    /// Returns the state of a target at a position, none of which has been sent.
    func initialState(at position: StorePosition) -> State {
        switch target.source {
        case .query(let watched): .query(QueryWatchState(watched, at: position))
        case .documents(let paths): .documents(DocumentsListenState(paths, isResumed: false))
        }
    }

    /// Returns the state of a target after a token, which the client has.
    func resumedState(after token: ResumeToken, at position: StorePosition) -> State {
        switch target.source {
        case .query(let watched): .query(QueryWatchState(watched, resumingAfter: token, at: position))
        case .documents(let paths): .documents(DocumentsListenState(paths, isResumed: true))
        }
    }

    /// Returns whether a commit has all before-images that the target requires.
    func hasBeforeImages(_ commit: Commit) -> Bool {
        guard case .query(let watched) = target.source else { return true }
        return WatchRequest(target: .query(watched)).hasBeforeImages(commit)
    }

    /// Returns the changes of a commit to documents that can belong to the target; `nil` if there are none.
    func relevantChanges(of commit: Commit) -> Commit? {
        let changes = commit.changes.filter { contains($0.path) }
        return changes.isEmpty ? nil : commit.with(changes)
    }

    /// Returns the net changes of commits, with the before-images that the target requires; `nil` for no commits.
    ///
    /// - Parameter earlier: The net changes of the commits before.
    func coalescing(
        _ earlier: Commit? = nil,
        with commits: [Commit],
        from store: any DocumentStore
    ) async throws(StatusError) -> Commit? {
        if earlier == nil, commits.count == 1, let commit = commits.first {
            return try await addingBeforeImages(to: commit, from: store)
        }
        var all = [earlier].compactMap(\.self)
        // The before-image of several changes is that of the first.
        var known = Set(all.flatMap(\.changes).map(\.path))
        for commit in commits {
            let first = commit.changes.filter { known.insert($0.path).inserted }
            let paths = Set(first.map(\.path))
            all.append(try await addingBeforeImages(to: commit.with(first), from: store))
            all.append(commit.with(commit.changes.filter { !paths.contains($0.path) }))
        }
        return Commit(coalescing: all)
    }

    private func addingBeforeImages(to commit: Commit, from store: any DocumentStore) async throws(StatusError) -> Commit {
        guard case .query(let watched) = target.source else { return commit }
        return try await WatchRequest(target: .query(watched)).addingBeforeImages(to: commit, from: store)
    }
}

extension Commit {
    /// Returns the commit with other changes.
    fileprivate func with(_ changes: [CommittedChange]) -> Commit {
        Commit(sequence: sequence, time: time, author: author, changes: changes)
    }
}

extension ListenedTarget.State {
    /// Reads the next part of the initial state as of a time.
    ///
    /// - Returns: The documents, the errors of those that cannot be read, and whether they are the last.
    mutating func read(
        from store: any DocumentStore,
        at time: Timestamp
    ) async throws(StatusError) -> (changes: [OutgoingWatchFrame.Change], damaged: [StatusError], isComplete: Bool) {
        switch self {
        case .query(var state):
            let page = try await state.readPage(from: store)
            let isComplete = state.current() != nil
            self = .query(state)
            return (page.changes, page.damaged, isComplete)
        case .documents(var state):
            let changes = try await state.read(from: store, at: time)
            self = .documents(state)
            return (changes, [], state.isComplete)
        }
    }

    /// Restores what the client has at its resume token, if later commits have to be compared with it.
    mutating func restore(from store: any DocumentStore) async throws(StatusError) {
        guard case .query(var state) = self else { return }
        try await state.restore(from: store)
        self = .query(state)
    }

    /// Applies a commit if that requires no read, and returns its changes; otherwise returns `nil` and changes nothing.
    mutating func apply(_ commit: Commit) throws(StatusError) -> [OutgoingWatchFrame.Change]? {
        switch self {
        case .query(var state):
            guard let changes = try state.resultChanges(applying: commit) else { return nil }
            self = .query(state)
            return changes
        case .documents(let state):
            return state.changes(of: commit)
        }
    }

    /// Applies a commit and returns its changes.
    mutating func apply(_ commit: Commit, from store: any DocumentStore) async throws(StatusError) -> [OutgoingWatchFrame.Change]
    {
        if let changes = try apply(commit) { return changes }
        guard case .query(var state) = self else { return [] }
        let changes = try await state.orderedResultChanges(applying: commit, from: store)
        self = .query(state)
        return changes
    }

    /// Returns the number of documents in the target as of a time, that of the last applied commit.
    func count(in store: any DocumentStore, at time: Timestamp) async throws(StatusError) -> Int {
        switch self {
        case .query(let state): try await state.resultCount(in: store)
        case .documents(let state): try await state.existing(in: store, at: time).count
        }
    }

    /// Returns the documents in the target as of a time, that of the last applied commit.
    func documents(in store: any DocumentStore, at time: Timestamp) async throws(StatusError) -> [DocumentPath] {
        switch self {
        case .query(let state): try await state.paths(in: store)
        case .documents(let state): try await state.existing(in: store, at: time)
        }
    }
}
