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

    /// What is asked for.
    package let request: WatchRequest
    private let store: any DocumentStore
    private let control: WatchControl

    /// Makes a stream; it is to be iterated once.
    ///
    /// - Parameter executor: Where the stream waits, which is best where it is iterated.
    /// - Throws: ``StatusCode/invalidArgument`` when the token is of another target; ``StatusCode/outOfRange`` when it can't
    ///   be resumed from and the request says to fail then.
    package init(
        _ request: WatchRequest,
        in context: ServiceContext,
        on executor: (any TaskExecutor)? = nil
    ) throws(StatusError) {
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

    /// Whether a commit's changes are the same frames for everyone who watches the same and wants the same told.
    package var hasCommonFrames: Bool {
        guard !request.coalesces else { return false }
        return if case .query(let watched) = request.target { !watched.isRanked } else { true }
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
        private var progress: WatchProgress
        private var scan: CollectionScan?
        /// How many changes have been sent since the state was complete.
        private var changeCount = 0
        /// Reads the commits that are there already; nil when it is not known where it stands.
        private var commits: CommitSequence.AsyncIterator?

        fileprivate init(_ request: WatchRequest, store: any DocumentStore, control: WatchControl) {
            self.request = request
            self.store = store
            self.control = control
            self.timer = WatchTimer(control)
            self.progress = WatchProgress(request.target, at: store.position)
        }

        /// Whether there are commits already that the stream has not come to.
        package var isBehind: Bool { commits != nil && progress.sequence < store.position.lastSequence }

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
                    return reason.map { [.end($0, token: progress.bookmark)] }
                case .heartbeat:
                    frames = progress.checkpoint.map { [$0] } ?? []
                    control.noteSent()
                case nil:
                    frames = try await stepOrBeginAnew()
                }
                if !frames.isEmpty {
                    control.noteSent()
                    note(frames)
                    return frames.map { $0.telling(request.contents) }
                }
            }
            phase = .ended
            return nil
        }

        private mutating func stepOrBeginAnew() async throws(StatusError) -> [WatchFrame] {
            do throws(StatusError) {
                return try await step()
            } catch {
                guard isLost(error) else { throw error }
                let reason: WatchFrame.ResetReason = if case .resuming = phase { .expired } else { .lagged }
                begin(at: store.position)
                return [.reset(reason)]
            }
        }

        /// Whether a step has failed because commits that it needs are no longer kept.
        private func isLost(_ error: StatusError) -> Bool {
            let position = store.position
            return switch error.code {
            case .outOfRange: true
            case .failedPrecondition: progress.sequence < position.lastSequence && progress.sequence < position.oldestKept
            default: false
            }
        }

        private mutating func step() async throws(StatusError) -> [WatchFrame] {
            switch phase {
            case .opening:
                return open()
            case .reading where !progress.isSettled:
                return try await takeCommit()
            case .reading:
                guard let current = progress.current() else { return try await readPage() }
                phase = .live
                return [current]
            case .resuming:
                try await restore()
                guard progress.isSettled else { return try await takeCommit() }
                phase = .live
                return progress.checkpoint.map { [$0] } ?? []
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
        if let token = request.resume, let reason = token.obstacle(at: position) {
            begin(at: position)
            return [open, .reset(reason)]
        }
        guard let token = request.resume ?? request.tokenForStart(at: position) else {
            begin(at: position)
            return [open]
        }
        progress = WatchProgress(request.target, resumingAfter: token, at: position)
        phase = .resuming
        return [open]
    }

    /// Begins to read the initial state.
    private mutating func begin(at position: StorePosition) {
        progress = WatchProgress(request.target, at: position)
        scan = nil
        commits = nil
        phase = .reading
    }

    private mutating func readPage() async throws(StatusError) -> [WatchFrame] {
        switch progress {
        case .documents(var state):
            let page = try await readDocuments()
            let frames = state.take(page: page.documents, upTo: page.next, at: try await store.settledPosition())
            progress = .documents(state)
            return frames + page.damaged
        case .query(var watch):
            let frames = try await watch.read(from: store)
            progress = .query(watch)
            return frames
        }
    }

    private mutating func readDocuments() async throws(StatusError) -> (
        documents: [EncodedDocument], next: DocumentID?, damaged: [WatchFrame]
    ) {
        switch request.target {
        case .document(let path):
            return (try await store.document(at: path).map { [$0] } ?? [], nil, [])
        case .collection(let path):
            var scan = scan ?? CollectionScan(path, after: nil, includingMissing: false, in: store)
            let page = try await scan.next(atMost: Self.pageSize)
            self.scan = scan
            let documents = page.documents.compactMap { entry in
                if case .document(let document) = entry { document } else { nil }
            }
            return (documents, page.next, page.damaged.map { .damaged(DamagedDocument(error: $0)) })
        case .query:
            return ([], nil, [])
        }
    }

    private static let pageSize = 256

    /// Finds what the watcher knows already, where it is needed.
    private mutating func restore() async throws(StatusError) {
        guard case .query(var watch) = progress else { return }
        try await watch.restore(from: store)
        progress = .query(watch)
    }

    /// Takes the next commit, waiting for it where there is none yet. Nothing when it is of no concern, or the wait was
    /// interrupted.
    private mutating func takeCommit() async throws(StatusError) -> [WatchFrame] {
        guard let commit = try await nextCommit() else { return [] }
        let completed = try await request.completed(request.coalesces ? try await joined(with: commit) : commit, from: store)
        return try await progress.take(completed, from: store)
    }

    /// A commit with those behind it that are there already, as if it were one.
    private mutating func joined(with commit: Commit) async throws(StatusError) -> Commit {
        var commits = [commit]
        let last = store.position.lastSequence
        while let sequence = commits.last?.sequence, sequence < last, commits.count < Self.maximumJoined,
            let next = try await self.commits?.next()
        {
            commits.append(next)
        }
        return Commit(joining: commits) ?? commit
    }

    private static let maximumJoined = 256

    private mutating func note(_ frames: [WatchFrame]) {
        guard let limit = request.limit, progress.bookmark != nil else { return }
        for case .change(_, .some) in frames { changeCount += 1 }
        if changeCount >= limit { control.end(.limit) }
    }

    private mutating func nextCommit() async throws(StatusError) -> Commit? {
        let commit: Commit?
        if progress.sequence < store.position.lastSequence {
            var commits = commits ?? store.commits(after: progress.sequence).makeAsyncIterator()
            commit = try await commits.next()
            self.commits = commits
        } else {
            commits = nil
            let wait = store.commits(after: progress.sequence)
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
            throw .expired(at: position)
        }
    }
}

extension StatusError {
    /// The error for a token that can't be resumed from.
    static func expired(at position: StorePosition) -> StatusError {
        StatusError(
            .outOfRange,
            "The commits after the token are not kept any more, or are of another history; the oldest kept is "
                + "\(position.oldestKept). Leave the token out to begin anew."
        )
    }
}

extension WatchToken {
    /// The token that a stream which begins at a position goes on after.
    init(_ target: WatchTarget, at position: StorePosition) {
        self.init(
            target: target,
            epoch: position.epoch,
            sequence: position.lastSequence,
            time: position.lastCommitTime ?? .minimum
        )
    }

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

extension WatchRequest {
    /// The token that a stream begins after which begins with the next change.
    fileprivate func tokenForStart(at position: StorePosition) -> WatchToken? {
        guard case .now = start else { return nil }
        return WatchToken(target, at: position)
    }

    /// A commit with what its documents were before, where that is wanted.
    ///
    /// Read as of a moment before the commit where it is not at hand.
    fileprivate func completed(_ commit: Commit, from store: any DocumentStore) async throws(StatusError) -> Commit {
        guard contents == .before || target.needsPastDocuments else { return commit }
        var changes = commit.changes
        for (index, change) in changes.enumerated() where change.before == nil && change.existedBefore {
            guard target.contains(change.path) else { continue }
            let time = try Timestamp(microseconds: commit.time.microseconds - 1)
            changes[index] = DocumentChange(
                path: change.path,
                before: try await store.document(at: change.path, readTime: time),
                after: change.after,
                existedBefore: true
            )
        }
        return Commit(sequence: commit.sequence, time: commit.time, changes: changes)
    }
}

extension WatchTarget {
    /// Whether only what a document was tells whether it was in the target.
    fileprivate var needsPastDocuments: Bool {
        if case .query(let watched) = self { !watched.isRanked } else { false }
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
