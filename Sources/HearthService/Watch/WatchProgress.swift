import DocumentModel
import DocumentStore

/// What a watcher has been told so far, by what it watches.
indirect enum WatchProgress: Sendable {
    case documents(WatchState)
    case query(QueryWatch)

    /// Begins with nothing told, at a position of the log from which on all commits will be taken.
    init(_ target: WatchTarget, at position: StorePosition) {
        switch target {
        case .document, .collection: self = .documents(WatchState(target: target, at: position))
        case .query(let watched): self = .query(QueryWatch(watched, at: position))
        }
    }

    /// Goes on with a watcher that knows everything up to a token.
    init(_ target: WatchTarget, resumingAfter token: WatchToken, at position: StorePosition) {
        switch target {
        case .document, .collection:
            self = .documents(WatchState(target: target, resumingAfter: token, at: position))
        case .query(let watched):
            self = .query(QueryWatch(watched, resumingAfter: token, at: position))
        }
    }

    /// The last commit that was taken.
    var sequence: SequenceNumber {
        switch self {
        case .documents(let state): state.sequence
        case .query(let watch): watch.sequence
        }
    }

    /// Whether the commits were taken that are needed before the next page, or ``current()``.
    var isSettled: Bool {
        switch self {
        case .documents(let state): state.isSettled
        case .query(let watch): watch.isSettled
        }
    }

    /// The sign of life; nil while the initial state is incomplete.
    var checkpoint: WatchFrame? {
        switch self {
        case .documents(let state): state.checkpoint
        case .query(let watch): watch.checkpoint
        }
    }

    /// The bookmark after the last commit; nil while the initial state is incomplete.
    var bookmark: WatchToken? {
        switch self {
        case .documents(let state): state.bookmark
        case .query(let watch): watch.bookmark
        }
    }

    /// The frame that ends the initial state; nil while it is incomplete, and after it was given.
    mutating func current() -> WatchFrame? {
        switch self {
        case .documents(var state):
            defer { self = .documents(state) }
            return state.current()
        case .query(var watch):
            defer { self = .query(watch) }
            return watch.current()
        }
    }

    /// Takes the next commit of the log where nothing must be read for that, and gives what it changes for the watcher; nil where
    /// something must. Then, and when it throws, it has taken nothing.
    mutating func take(_ commit: Commit) throws(StatusError) -> [WatchFrame]? {
        switch self {
        case .documents(var state):
            let frames = state.take(commit)
            self = .documents(state)
            return frames
        case .query(var watch):
            guard let frames = try watch.take(commit) else { return nil }
            self = .query(watch)
            return frames
        }
    }

    /// Takes the next commit of the log, and gives what it changes for the watcher. When it throws, it has taken nothing.
    mutating func take(_ commit: Commit, from store: any DocumentStore) async throws(StatusError) -> [WatchFrame] {
        if let frames = try take(commit) { return frames }
        guard case .query(var watch) = self else { return [] }
        let frames = try await watch.takeRanked(commit, from: store)
        self = .query(watch)
        return frames
    }
}
