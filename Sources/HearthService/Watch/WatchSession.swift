package import DocumentModel
import DocumentStore

/// The frames of one watch stream, as they come: those that belong together at a time, a page of the initial state or the
/// changes of one commit.
///
/// Nothing is queued for a slow reader: it reads the log of commits at its own pace, and writers never wait for it. One that
/// falls behind what the log keeps gets a ``WatchFrame/reset(_:)`` and the whole state again. A document that can't be read is
/// told by a ``WatchFrame/damaged(_:)`` in a collection's state; a stream of that document alone fails.
///
/// The stream ends after an ``WatchFrame/end(_:token:)`` frame, and without one when its task is cancelled.
package struct WatchSession: AsyncSequence, Sendable {
    package typealias Element = [WatchFrame]
    package typealias Failure = StatusError

    private let request: WatchRequest
    private let store: any DocumentStore
    private let control: WatchControl

    /// Makes a stream; it is to be iterated once.
    ///
    /// - Parameter executor: Where the stream waits, which is best where it is iterated.
    /// - Throws: ``StatusCode/invalidArgument`` when the token is of another target; ``StatusCode/outOfRange`` when it can't
    ///   be resumed from and the request says to fail then; ``StatusCode/permissionDenied`` when the caller may not watch it.
    package init(
        _ request: WatchRequest,
        in context: ServiceContext,
        on executor: (any TaskExecutor)? = nil
    ) throws(StatusError) {
        try context.authorize(.reader)
        try request.target.check(for: context.caller)
        self.request = request
        self.store = context.store
        self.control = WatchControl(heartbeat: request.heartbeat, timeout: request.timeout, on: executor)
        try request.check(at: store.position)
    }

    /// Ends the stream after what it is sending, from any task. Only the first reason counts.
    ///
    /// - Parameter reason: What to tell the watcher; nil when it is gone, for an end without a frame.
    package func end(_ reason: WatchFrame.EndReason?) {
        control.end(reason)
    }

    package func makeAsyncIterator() -> Iterator {
        Iterator(request, store: store, control: control)
    }
}

extension WatchSession {
    /// Reads a stream, pulling from the store whenever it is asked for more.
    package struct Iterator: AsyncIteratorProtocol {
        private enum Phase {
            case opening
            /// The initial state is read.
            case reading
            /// What was committed since the token is replayed.
            case resuming
            case live
            case ended
        }

        private let request: WatchRequest
        private let store: any DocumentStore
        private let control: WatchControl
        private let timer: WatchTimer
        private var phase = Phase.opening
        private var state: WatchState
        private var scan: CollectionScan?
        /// Reads the commits that are there already; nil when it is not known where it stands.
        private var commits: CommitSequence.AsyncIterator?

        fileprivate init(_ request: WatchRequest, store: any DocumentStore, control: WatchControl) {
            self.request = request
            self.store = store
            self.control = control
            self.timer = WatchTimer(control)
            self.state = WatchState(target: request.target, at: store.position)
        }

        /// The next frames, at least one; nil at the end.
        package mutating func next() async throws(StatusError) -> [WatchFrame]? {
            try await next(isolation: nil)
        }

        /// The next frames, at least one; nil at the end.
        package mutating func next(isolation actor: isolated (any Actor)?) async throws(StatusError) -> [WatchFrame]? {
            while phase != .ended, !Task.isCancelled {
                let frames: [WatchFrame]
                switch control.interruption {
                case .end(let reason):
                    phase = .ended
                    return reason.map { [.end($0, token: state.bookmark)] }
                case .heartbeat:
                    frames = state.checkpoint.map { [$0] } ?? []
                    control.noteSent()
                case nil:
                    frames = try await step()
                }
                if !frames.isEmpty {
                    control.noteSent()
                    return frames
                }
            }
            phase = .ended
            return nil
        }

        private mutating func step() async throws(StatusError) -> [WatchFrame] {
            switch phase {
            case .opening:
                return open()
            case .reading where !state.isSettled:
                return try await takeCommit()
            case .reading:
                guard let current = state.current() else { return try await readPage() }
                phase = .live
                return [current]
            case .resuming:
                guard state.isSettled else { return try await takeCommit() }
                phase = .live
                return state.checkpoint.map { [$0] } ?? []
            case .live:
                return try await takeCommit()
            case .ended:
                return []
            }
        }
    }
}

extension WatchSession.Iterator {
    private mutating func open() -> [WatchFrame] {
        let position = store.position
        let open = WatchFrame.open(
            epoch: position.epoch,
            sequence: position.lastSequence,
            oldest: position.oldestKept,
            heartbeat: request.heartbeat
        )
        guard let token = request.resume else {
            begin(at: position)
            return [open]
        }
        if let reason = token.obstacle(at: position) {
            begin(at: position)
            return [open, .reset(reason)]
        }
        state = WatchState(target: request.target, resumingAfter: token.sequence, at: position)
        phase = .resuming
        return [open]
    }

    /// Begins to read the initial state.
    private mutating func begin(at position: StorePosition) {
        state = WatchState(target: request.target, at: position)
        scan = nil
        commits = nil
        phase = .reading
    }

    private mutating func readPage() async throws(StatusError) -> [WatchFrame] {
        switch request.target {
        case .document(let path):
            let document = try await store.document(at: path)
            return state.take(page: document.map { [$0] } ?? [], upTo: nil, at: try await store.settledPosition())
        case .collection(let path):
            var scan = scan ?? CollectionScan(path, after: nil, includingMissing: false, in: store)
            let page = try await scan.next(atMost: Self.pageSize)
            self.scan = scan
            let documents = page.documents.compactMap { entry in
                if case .document(let document) = entry { document } else { nil }
            }
            let damaged = page.damaged.map { WatchFrame.damaged(DamagedDocument(error: $0)) }
            return state.take(page: documents, upTo: page.next, at: try await store.settledPosition()) + damaged
        }
    }

    private static let pageSize = 256

    /// Takes the next commit, waiting for it where there is none yet. Nothing when it is of no concern, or the wait was
    /// interrupted.
    private mutating func takeCommit() async throws(StatusError) -> [WatchFrame] {
        do throws(StatusError) {
            return try await nextCommit().map { state.take($0) } ?? []
        } catch  where error.code == .outOfRange {
            begin(at: store.position)
            return [.reset(.lagged)]
        }
    }

    private mutating func nextCommit() async throws(StatusError) -> Commit? {
        let commit: Commit?
        if state.sequence < store.position.lastSequence {
            var commits = commits ?? store.commits(after: state.sequence).makeAsyncIterator()
            commit = try await commits.next()
            self.commits = commits
        } else {
            commits = nil
            let wait = store.commits(after: state.sequence)
            commit = try await control.wait { () throws(StatusError) in
                var commits = wait.makeAsyncIterator()
                return try await commits.next()
            }
        }
        if commit == nil, control.interruption == nil, !Task.isCancelled {
            // The log ends only when the store is closed.
            control.end(.shutdown)
        }
        return commit
    }
}

extension WatchRequest {
    fileprivate func check(at position: StorePosition) throws(StatusError) {
        guard let resume else { return }
        guard resume.belongs(to: target) else {
            throw StatusError(.invalidArgument, "The token was given for another target. Watch without it to begin anew.")
        }
        if onExpired == .fail, resume.obstacle(at: position) != nil {
            throw StatusError(
                .outOfRange,
                "The commits after the token are not kept any more, or are of another history; the oldest kept is "
                    + "\(position.oldestKept). Watch without the token to begin anew."
            )
        }
    }
}

extension WatchToken {
    /// Why the stream can't go on after this token.
    fileprivate func obstacle(at position: StorePosition) -> WatchFrame.ResetReason? {
        if !belongs(toEpoch: position.epoch) {
            .restored
        } else if !position.canResume(after: sequence) {
            .expired
        } else {
            nil
        }
    }
}

/// Runs the timer of a stream for as long as the stream's iterator lives.
private final class WatchTimer: Sendable {
    private let task: Task<Void, Never>

    init(_ control: WatchControl) {
        task = Task(executorPreference: control.executor) { await control.runTimer() }
    }

    deinit {
        task.cancel()
    }
}
