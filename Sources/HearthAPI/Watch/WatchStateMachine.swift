import DocumentModel
import DocumentStore

/// The state machine of a watch stream: what has been sent to the watcher, and which frames follow.
indirect enum WatchStateMachine: Sendable {
    case documents(CollectionWatchState)
    case query(QueryWatchState)

    /// Creates the state machine of a new stream, at a position after which all commits will be applied.
    init(_ target: PreparedWatchTarget, at position: StorePosition) {
        switch target {
        case .document, .collection: self = .documents(CollectionWatchState(target: target, at: position))
        case .query(let watched): self = .query(QueryWatchState(watched, at: position))
        }
    }

    /// Creates the state machine of a resumed stream, whose watcher has all changes up to a token.
    init(_ target: PreparedWatchTarget, resumingAfter token: ResumeToken, at position: StorePosition) {
        switch target {
        case .document, .collection:
            self = .documents(CollectionWatchState(target: target, resumingAfter: token, at: position))
        case .query(let watched):
            self = .query(QueryWatchState(watched, resumingAfter: token, at: position))
        }
    }

    /// The sequence number of the last applied commit.
    var sequence: SequenceNumber {
        switch self {
        case .documents(let state): state.sequence
        case .query(let state): state.sequence
        }
    }

    /// The epoch of the commit log.
    var epoch: String {
        switch self {
        case .documents(let state): state.epoch
        case .query(let state): state.epoch
        }
    }

    /// The time of that commit.
    var time: Timestamp {
        switch self {
        case .documents(let state): state.time
        case .query(let state): state.time
        }
    }

    /// The number of documents in the target; `nil` if unknown.
    var count: Int? {
        switch self {
        case .documents(let state): state.count
        case .query(let state): state.count
        }
    }

    /// The last commit that is required before the next page or ``current()``.
    var barrier: SequenceNumber {
        switch self {
        case .documents(let state): state.barrier
        case .query(let state): state.barrier
        }
    }

    /// True if all commits that are required before the next page or ``current()`` have been applied.
    var isCaughtUp: Bool {
        switch self {
        case .documents(let state): state.isCaughtUp
        case .query(let state): state.isCaughtUp
        }
    }

    /// The heartbeat frame, or `nil` while the initial state is incomplete.
    var heartbeat: OutgoingWatchFrame? {
        switch self {
        case .documents(let state): state.heartbeat
        case .query(let state): state.heartbeat
        }
    }

    /// The resume token after the last commit, or `nil` while the initial state is incomplete.
    var resumeToken: ResumeToken? {
        switch self {
        case .documents(let state): state.resumeToken
        case .query(let state): state.resumeToken
        }
    }

    /// Returns the frame that completes the initial state, once; `nil` while the state is incomplete.
    mutating func current() -> OutgoingWatchFrame? {
        switch self {
        case .documents(var state):
            defer { self = .documents(state) }
            return state.current()
        case .query(var state):
            defer { self = .query(state) }
            return state.current()
        }
    }

    /// Applies the next commit if that requires no read, and returns its frames.
    ///
    /// - Returns: `nil` if a read is required. In that case, and if it throws, the state is unchanged.
    mutating func apply(_ commit: Commit) throws(StatusError) -> [OutgoingWatchFrame]? {
        switch self {
        case .documents(var state):
            let frames = state.apply(commit)
            self = .documents(state)
            return frames
        case .query(var state):
            guard let frames = try state.apply(commit) else { return nil }
            self = .query(state)
            return frames
        }
    }

    /// Applies the next commit and returns its frames. If it throws, the state is unchanged.
    mutating func apply(_ commit: Commit, from store: any DocumentStore) async throws(StatusError) -> [OutgoingWatchFrame] {
        if let frames = try apply(commit) { return frames }
        guard case .query(var state) = self else { return [] }
        let frames = try await state.applyToOrderedResult(commit, from: store)
        self = .query(state)
        return frames
    }

    /// Advances a live stream past commits whose frames were read for another stream with the same target.
    mutating func advance(through sequence: SequenceNumber, at time: Timestamp, addedCount: Int) {
        switch self {
        case .documents(var state):
            state.advance(through: sequence, at: time, addedCount: addedCount)
            self = .documents(state)
        case .query(var state):
            state.advance(through: sequence, at: time, addedCount: addedCount)
            self = .query(state)
        }
    }
}
