import DocumentModel
import DocumentStore

/// The reader of one watch stream: drives its state machine with documents and commits from the store.
///
/// The state is in a class rather than in the task that waits for frames, since that task lives as long as the stream. For the
/// same reason, each step that reads from the store runs in a separate task: a task keeps the stack memory of its deepest call.
/// Most commits are in memory and need no read; such a commit takes a few microseconds, and a task for it would double that.
final class WatchReader {
    private enum Phase {
        case opening
        /// The initial state is being read.
        case reading
        /// The commits since the resume token are being replayed.
        case resuming
        case live
        case ended
    }

    private let session: WatchSession
    private var phase = Phase.opening
    private var state: WatchStateMachine
    /// The number of times that the log had been found to be another one when the stream began.
    private var restartCount: Int
    private var scan: CollectionScan?
    /// The number of changes that have been sent since the initial state was complete.
    private var changeCount = 0
    /// The sequence number of the last resume token that was sent.
    private var lastTokenSequence = SequenceNumber.zero
    /// The iterator of the commit log, or `nil` if its position is unknown.
    private var commits: CommitSequence.AsyncIterator?
    /// True if a wait has ended since the last step: a commit exists, or the log has ended.
    private var hasWaited = false
    /// The budget for running a query with an offset again.
    private var runBudget: WatchRunBudget
    /// The access of an end user to the target; `nil` for other callers.
    private var access: TargetAccess?
    /// The net changes that the stream of an end user has read since its resume token, and the last commit that it has read.
    private var netChanges: Commit?
    /// The frames that were read while the rules changed.
    private var undecidedFrames: [OutgoingWatchFrame] = []
    /// True if the next run has had to wait, so that it is at the last commit instead of the next one.
    private var hasPausedRuns = false
    /// True if not all commits could be coalesced for the last run. The next one does not wait, so that the stream catches up.
    private var mustCatchUp = false
    /// The time of the first of the consecutive rejected steps, or `nil` if the last step was not rejected.
    private var firstRejectionTime: ContinuousClock.Instant?

    /// The number of documents on a page of the initial state.
    private static let pageSize = 256
    /// The maximum number of commits that are coalesced into one.
    private static let maximumCoalescedCommits = 256
    /// The maximum size of the changes that are coalesced because a run has had to wait.
    private static let maximumCoalescedBytes = 16 << 20
    /// The size of the displaced documents of a commit from which on no more are read.
    private static let maximumDisplacedBytes = 16 << 20
    /// The maximum time of a step that waits for the next run, so that heartbeats are sent meanwhile.
    private static let maximumPause = Duration.milliseconds(500)
    /// The minimum number of commits between two periodic heartbeats, even with a short retention.
    private static let minimumCommitsBetweenHeartbeats = 16

    init(_ session: WatchSession) {
        self.session = session
        runBudget = session.request.runBudget
        access = session.access
        let position = session.store.position
        state = WatchStateMachine(session.request.target, at: position)
        restartCount = position.restartCount
    }

    private var request: WatchRequest { session.request }
    private var store: any DocumentStore { session.store }
    private var wakeup: WatchWakeup { session.wakeup }

    /// True if commits exist that the stream has not read yet.
    var isBehind: Bool { commits != nil && state.sequence < store.position.lastSequence }

    /// True if more commits are unread than can be coalesced into one.
    var isFarBehind: Bool {
        let last = store.position.lastSequence.rawValue
        return isBehind && last - min(state.sequence.rawValue, last) > UInt64(Self.maximumCoalescedCommits)
    }

    /// Returns the next frames, or `nil` at the end of the stream.
    ///
    /// - Parameter waits: Whether to wait for at least one frame, and to read from the store if needed. If `false`, the result is
    ///   empty when no frames are available immediately.
    nonisolated(nonsending) func next(waits: Bool) async throws(StatusError) -> [OutgoingWatchFrame]? {
        while true {
            switch nextAction() {
            case .send(let frames): return frames
            case .end: return nil
            case .waitForCommit where !waits, .step where !waits: return []
            case .waitForCommit:
                hasWaited = true
                await wakeup.waitForCommit(after: state.sequence, in: store)
            case .step:
                hasWaited = false
                if let frames = recordSend(of: try await stepInSeparateTask()) { return frames }
            }
        }
    }

    private enum Action {
        case send([OutgoingWatchFrame])
        case waitForCommit
        case step
        case end
    }

    // Functions that are not inlined use none of the waiting task's stack memory.

    @inline(never)
    private func nextAction(maximumBytes: Int = .max) -> Action {
        while phase != .ended, !Task.isCancelled {
            if let interruption = wakeup.interruption {
                hasWaited = false
                guard let frames = frames(for: interruption) else { return .step }
                if let frames = recordSend(of: frames) { return .send(frames) }
                continue
            }
            if needsAnotherCommit, !hasWaited {
                commits = nil
                return .waitForCommit
            }
            guard let frames = applyCommitInMemory(maximumBytes: maximumBytes) else { return .step }
            hasWaited = false
            if let frames = recordSend(of: frames) { return .send(frames) }
        }
        phase = .ended
        return .end
    }

    /// Returns the frames for an interruption; `nil` if it requires a step.
    private func frames(for interruption: WatchWakeup.Interruption) -> [OutgoingWatchFrame]? {
        switch interruption {
        case .rulesChange:
            return nil
        case .heartbeat where access?.isDue == true:
            return nil
        case .end(let reason):
            phase = .ended
            return reason.map { [.end($0, token: state.resumeToken)] } ?? []
        case .heartbeat:
            wakeup.recordSend()
            return state.heartbeat.map { [$0] } ?? []
        }
    }

    /// Records that frames are sent, and returns them with the requested contents; `nil` for no frames.
    @inline(never)
    private func recordSend(of frames: [OutgoingWatchFrame]) -> [OutgoingWatchFrame]? {
        guard !frames.isEmpty else { return nil }
        wakeup.recordSend()
        if let sequence = frames.last?.token?.sequence { lastTokenSequence = sequence }
        if let limit = request.limit, state.resumeToken != nil {
            for case .change(_, .some) in frames { changeCount += 1 }
            if changeCount >= limit { wakeup.end(.limit) }
        }
        return frames.map { $0.reduced(to: request.contents, omitsRemoved: session.omitsRemovedDocuments) }
    }

    /// True if the next step requires a commit that does not exist yet.
    private var needsAnotherCommit: Bool {
        let needsCommit =
            switch phase {
            case .live: true
            case .reading, .resuming: !state.isCaughtUp
            case .opening, .ended: false
            }
        return needsCommit && state.sequence >= store.position.lastSequence
    }
}

// Live delivery.
extension WatchReader {
    /// True if the stream waits for a commit, whose frames a ``LiveWatchReader`` can read.
    var isWaitingForCommit: Bool {
        phase == .live && firstRejectionTime == nil && !Task.isCancelled && needsAnotherCommit
    }

    /// Lets a live reader take the frames of new commits, until it ends, an interruption is pending or the task is cancelled.
    @inline(never)
    nonisolated(nonsending) func waitLive(_ start: (LiveWatchReader) -> Void) async {
        commits = nil
        var live: LiveWatchReader?
        await wakeup.wait { waiter in
            let reader = LiveWatchReader(self, waiter)
            live = reader
            start(reader)
        }
        live?.end()
    }

    /// Returns the frames of the next small commit in memory; `nil` if there is none, or if the task must continue the stream.
    func nextInMemory() -> [OutgoingWatchFrame]? {
        guard !needsAnotherCommit, case .send(let frames) = nextAction(maximumBytes: Self.maximumLiveBytes) else { return nil }
        return frames
    }

    /// The maximum size of a commit that is applied without the stream's task.
    private static let maximumLiveBytes = 32 << 10

    /// Makes the task continue with a step even if there is no commit: the log may have ended.
    func recordWait() {
        hasWaited = true
    }

    /// The position of a live stream.
    var livePosition: LiveWatchPosition {
        LiveWatchPosition(
            sequence: state.sequence,
            epoch: state.epoch,
            time: state.time,
            count: state.count,
            tokenSequence: lastTokenSequence
        )
    }

    /// Advances as another live stream has, unless an interruption is pending. Returns whether it did.
    ///
    /// - Parameter sends: True if there are frames to send for it.
    func advance(from start: LiveWatchPosition, to end: LiveWatchPosition, sends: Bool) -> Bool {
        guard phase == .live, firstRejectionTime == nil, request.limit == nil, state.sequence == start.sequence,
            state.epoch == start.epoch, access?.isDependent != true
        else { return false }
        var addedCount = 0
        if state.count != nil {
            // A resumed stream does not know the number of its documents, so nobody can learn from it how many were added.
            guard let first = start.count, let last = end.count else { return false }
            addedCount = last - first
        }
        guard sends ? wakeup.recordSendUnlessInterrupted() : wakeup.interruption == nil else { return false }
        state.advance(through: end.sequence, at: end.time, addedCount: addedCount)
        lastTokenSequence = end.tokenSequence
        commits = nil
        return true
    }

    /// Calls `body` once, as soon as there is a commit to read or the log has ended.
    func notify(_ body: @escaping @Sendable () -> Void) -> CommitNotification {
        store.notify(after: state.sequence, body)
    }
}

// Steps.
extension WatchReader {
    @inline(never)
    private nonisolated(nonsending) func stepInSeparateTask() async throws(StatusError) -> [OutgoingWatchFrame] {
        // Safe: this task waits for the task group, so only one task uses the reader at a time.
        nonisolated(unsafe) let reader = self
        let wakeup = wakeup
        let frames = await withTaskGroup(of: Result<[OutgoingWatchFrame], StatusError>?.self) { group in
            group.addTask { await Result { () async throws(StatusError) in try await reader.stepOrRetry() } }
            // A long read is cancelled when the client disconnects.
            group.addTask {
                await wakeup.waitForEnd()
                return nil
            }
            var frames: Result<[OutgoingWatchFrame], StatusError>?
            while let finished = await group.next() {
                frames = finished ?? frames
                group.cancelAll()
            }
            return frames
        }
        return try frames?.get() ?? []
    }

    /// Performs the next step. If the store rejects it because of overload, nothing has changed and the step is retried.
    private nonisolated(nonsending) func stepOrRetry() async throws(StatusError) -> [OutgoingWatchFrame] {
        if firstRejectionTime != nil, await !waitBeforeRetry() { return [] }
        do throws(StatusError) {
            return try await stepOrReset()
        } catch {
            // The stream ends with an end frame instead of an error.
            if error.code == .cancelled, case .end? = wakeup.interruption { return [] }
            guard shouldRetry(after: error) else { throw error }
            return []
        }
    }

    /// Performs the next step, or resets the stream if commits that the step requires are no longer retained.
    private nonisolated(nonsending) func stepOrReset() async throws(StatusError) -> [OutgoingWatchFrame] {
        do throws(StatusError) {
            let frames = try await step()
            firstRejectionTime = nil
            return frames.isEmpty ? periodicHeartbeat : frames
        } catch {
            if isOfEarlierLog { return [try await resetOrEnd(.restored)] }
            guard try await store.hasLostHistory(after: state.sequence, error) else { throw error }
            return [try await resetOrEnd(phase == .resuming ? .expired : .lagged)]
        }
    }

    /// Waits for a retry interval, and returns whether the stream continues.
    private nonisolated(nonsending) func waitBeforeRetry() async -> Bool {
        try? await Task.sleep(for: request.retryPolicy.nextInterval)
        return wakeup.interruption == nil
    }

    /// Returns whether the retry policy retries a step after an error.
    private func shouldRetry(after error: StatusError) -> Bool {
        guard error.code == .unavailable, error.retryAfter != nil else { return false }
        let start = firstRejectionTime ?? .now
        firstRejectionTime = start
        return .now - start < request.retryPolicy.timeout
    }

    /// Restarts the stream with the initial state, or ends it if the request asks for that.
    private nonisolated(nonsending) func resetOrEnd(
        _ reason: OutgoingWatchFrame.ResetReason
    ) async throws(StatusError) -> OutgoingWatchFrame {
        guard request.onExpired == .reset else {
            phase = .ended
            return .end(.slow, token: nil)
        }
        begin(at: try await safePosition())
        return .reset(reason)
    }

    /// Returns the position of the store, and decides about the access of an end user as of then or later: of the commits up to that
    /// position, none will be applied that could affect it.
    private nonisolated(nonsending) func safePosition() async throws(StatusError) -> StorePosition {
        let position = try await store.safePosition()
        try await access?.decide()
        return position
    }

    private nonisolated(nonsending) func step() async throws(StatusError) -> [OutgoingWatchFrame] {
        let frames = try await decideOrAdvance()
        // Changes that were read while the rules changed are sent only if these grant access, too.
        guard access != nil, phase != .ended, wakeup.hasRulesChanged else { return frames }
        undecidedFrames = frames
        return []
    }

    private nonisolated(nonsending) func decideOrAdvance() async throws(StatusError) -> [OutgoingWatchFrame] {
        if wakeup.takeRulesChange() || access?.isDue == true {
            do throws(StatusError) {
                try await access?.decide()
            } catch {
                wakeup.recordRulesChange()
                throw error
            }
            defer { undecidedFrames = [] }
            return undecidedFrames
        }
        switch phase {
        case .opening:
            return try await open()
        case .reading where !state.isCaughtUp:
            return try await applyNextCommit()
        case .reading:
            guard let current = state.current() else { return try await readPage() }
            phase = .live
            return [current]
        case .resuming where access != nil:
            return try await resumeWithNetChanges()
        case .resuming:
            try await restore()
            guard state.isCaughtUp else { return try await applyNextCommit() }
            phase = .live
            return state.heartbeat.map { [$0] } ?? []
        case .live:
            return try await applyNextCommit()
        case .ended:
            return []
        }
    }

    private nonisolated(nonsending) func open() async throws(StatusError) -> [OutgoingWatchFrame] {
        let position = try await safePosition()
        let open = OutgoingWatchFrame.open(
            epoch: position.epoch,
            sequence: position.lastSequence,
            time: position.lastCommitTime,
            oldest: position.oldestRetained,
            heartbeat: request.heartbeat
        )
        if let token = request.resume, let reason = try await token.resetReason(at: position, in: store) {
            return [open, try await resetOrEnd(reason)]
        }
        guard let token = request.resume ?? request.startToken(at: position) else {
            begin(at: position)
            return [open]
        }
        if let access, try await !access.isGranted(resumingAfter: token, at: position) {
            return [open, try await resetOrEnd(.expired)]
        }
        state = WatchStateMachine(request.target, resumingAfter: token, at: position)
        restartCount = position.restartCount
        phase = .resuming
        netChanges = nil
        return [open]
    }

    /// Begins reading the initial state.
    private func begin(at position: StorePosition) {
        state = WatchStateMachine(request.target, at: position)
        restartCount = position.restartCount
        scan = nil
        commits = nil
        undecidedFrames = []
        phase = .reading
    }

    private nonisolated(nonsending) func readPage() async throws(StatusError) -> [OutgoingWatchFrame] {
        let frames = try await readPageUndecided()
        // A client that reads slowly gets its last page long after the first.
        try await access?.decideIfDependent()
        return frames
    }

    private nonisolated(nonsending) func readPageUndecided() async throws(StatusError) -> [OutgoingWatchFrame] {
        switch state {
        case .documents(var documentState):
            let page = try await readDocuments()
            let frames = documentState.apply(page: page.documents, upTo: page.next, at: try await store.safePosition())
            try await access?.decide(frames.changes)
            state = .documents(documentState)
            return frames + (access == nil ? page.damaged : [])
        case .query(var queryState):
            let frames = try await queryState.read(from: store)
            state = .query(queryState)
            return access == nil ? frames : frames.withoutDamage
        }
    }

    private nonisolated(nonsending) func readDocuments() async throws(StatusError) -> (
        documents: [EncodedDocument], next: DocumentPath.ID?, damaged: [OutgoingWatchFrame]
    ) {
        switch request.target {
        case .document(let path):
            return (try await store.document(at: path).map { [$0] } ?? [], nil, [])
        case .collection(let path):
            var scan = scan ?? CollectionScan(path, after: nil, includingMissing: false, in: store)
            let page = try await scan.nextBatch(limit: Self.pageSize)
            self.scan = scan
            let documents = page.documents.compactMap { entry in
                if case .document(let document) = entry { document } else { nil }
            }
            return (documents, page.next, page.damaged.map { .damaged($0) })
        case .query:
            return ([], nil, [])
        }
    }

    /// Restores the result that the watcher already has, if the target requires it.
    private nonisolated(nonsending) func restore() async throws(StatusError) {
        guard case .query(var queryState) = state else { return }
        try await queryState.restore(from: store)
        state = .query(queryState)
    }
}

// Commits.
extension WatchReader {
    /// Applies the next commit and returns its frames. If it throws, the commit is not applied and remains the next one.
    private nonisolated(nonsending) func applyNextCommit() async throws(StatusError) -> [OutgoingWatchFrame] {
        do throws(StatusError) {
            if isRunAtEveryCommit, !mustCatchUp, await pauseRuns() { return [] }
            mustCatchUp = false
            guard let commit = try await nextCommit() else { return [] }
            var completed = try await request.addingBeforeImages(to: commit, from: store)
            // While the initial state is being read, a page may show the state between two commits that would be coalesced.
            if request.coalesces || hasPausedRuns, phase != .reading { completed = try await coalesced(with: completed) }
            let start = ContinuousClock.now
            let changedState = state
            var frames = try await state.apply(completed, from: store)
            do throws(StatusError) {
                frames = try await addingDisplacedDocuments(to: frames, at: completed.time)
                try await decide(before: completed, frames)
            } catch {
                state = changedState
                throw error
            }
            if isRunAtEveryCommit {
                let end = ContinuousClock.now
                runBudget.spend(end - start, at: end)
                hasPausedRuns = mustCatchUp
            }
            return frames
        } catch {
            commits = nil
            throw error
        }
    }

    /// Returns the frames of a commit with the documents that others have displaced from the result, which the commit itself does not
    /// contain. A damaged one is left out, as are those beyond a total size.
    private nonisolated(nonsending) func addingDisplacedDocuments(
        to frames: [OutgoingWatchFrame],
        at time: Timestamp
    ) async throws(StatusError) -> [OutgoingWatchFrame] {
        guard case .query(let watched) = request.target, request.contents != .paths, !session.omitsRemovedDocuments else {
            return frames
        }
        var frames = frames
        var byteCount = 0
        for index in frames.indices where byteCount < Self.maximumDisplacedBytes {
            guard case .change(var change, let position) = frames[index], change.kind == .removed, change.document == nil else {
                continue
            }
            do throws(StatusError) {
                guard let document = try await store.document(at: change.path, readTime: time) else { continue }
                byteCount += document.fieldsJSON.count
                change.document = try watched.projected(document)
            } catch  where error.code == .dataLoss {
                continue
            }
            frames[index] = .change(change, position: position)
        }
        return frames
    }

    /// Reads the next commits since the token from which an end user resumes, and returns the frames of their net changes once they
    /// are complete. What documents were meanwhile is not for end users, who can make up tokens.
    private nonisolated(nonsending) func resumeWithNetChanges() async throws(StatusError) -> [OutgoingWatchFrame] {
        try await restore()
        var read = netChanges
        var position = read?.sequence ?? state.sequence
        let last = max(state.barrier, position)
        var log = store.commits(after: position).makeAsyncIterator()
        var count = 0
        while position < last, count < Self.maximumCoalescedCommits {
            guard let commit = try await log.next() else {
                if !Task.isCancelled { wakeup.end(.shutdown) }
                return []
            }
            position = commit.sequence
            count += 1
            let relevant = commit.changes.filter { request.target.contains($0.path) }
            let changes = Commit(sequence: commit.sequence, time: commit.time, changes: relevant)
            let completed = try await request.addingBeforeImages(to: changes, from: store)
            read = read.map { Commit(coalescing: [$0, completed]) ?? completed } ?? completed
            if read?.isLarger(than: Self.maximumCoalescedBytes) == true { return [try await resetOrEnd(.expired)] }
        }
        netChanges = read
        guard position >= last else { return [] }
        var frames: [OutgoingWatchFrame] = []
        if let read {
            var resumed = state
            frames = try await resumed.apply(read, from: store)
            try await access?.decideIfDependent()
            try await access?.decide(frames.changes)
            state = resumed
        }
        netChanges = nil
        phase = .live
        return frames + (state.heartbeat.map { [$0] } ?? [])
    }

    /// Returns whether the access to the target has to be decided before a commit's changes are sent.
    private func mustDecide(before commit: Commit) -> Bool {
        guard let access else { return false }
        return access.isAffected(by: commit) || access.decidesDocuments(of: commit)
    }

    /// Decides the access to the target before the changes of a commit are sent, if the commit affects it.
    private nonisolated(nonsending) func decide(
        before commit: Commit,
        _ frames: [OutgoingWatchFrame]
    ) async throws(StatusError) {
        guard mustDecide(before: commit) else { return }
        try await access?.decide(before: commit)
        try await access?.decide(frames.changes)
    }

    /// True if the query is run again at every commit that touches its source.
    private var isRunAtEveryCommit: Bool {
        if case .query(let watched) = request.target { watched.isRunAtEveryCommit } else { false }
    }

    /// Waits for the next run of the query, or a part of that time. Returns whether it did.
    private nonisolated(nonsending) func pauseRuns() async -> Bool {
        let delay = runBudget.delay(at: .now)
        guard delay > .zero else { return false }
        hasPausedRuns = true
        try? await Task.sleep(for: min(delay, Self.maximumPause))
        return true
    }

    /// Applies the next commit of a live stream if it is in memory, small enough and requires no read. Otherwise returns `nil`
    /// and changes nothing.
    private func applyCommitInMemory(maximumBytes: Int) -> [OutgoingWatchFrame]? {
        guard phase == .live, firstRejectionTime == nil, !isOfEarlierLog else { return nil }
        var commits = commits ?? store.commits(after: state.sequence).makeAsyncIterator()
        var batch: [Commit] = []
        repeat {
            guard let commit = commits.nextInMemory() else { break }
            batch.append(commit)
        } while request.coalesces && batch.count < Self.maximumCoalescedCommits
        guard let commit = batch.count == 1 ? batch[0] : Commit(coalescing: batch), !commit.isLarger(than: maximumBytes),
            !mustDecide(before: commit), request.hasBeforeImages(commit),
            // After the commit has been read: other rules may decide about it.
            !wakeup.hasRulesChanged, !isOfEarlierLog, let frames = try? state.apply(commit)
        else { return nil }
        self.commits = commits
        return frames.isEmpty ? periodicHeartbeat : frames
    }

    /// Coalesces a commit with the available commits after it: up to a number, or all of them if the run of the query had to
    /// wait. Before-images are added to each commit first, since the before-image of the result is that of the first change.
    private nonisolated(nonsending) func coalesced(with commit: Commit) async throws(StatusError) -> Commit {
        var coalesced = commit
        let last = store.position.lastSequence
        repeat {
            var batch = [coalesced]
            var byteCount = coalesced.contentByteCount
            while let sequence = batch.last?.sequence, sequence < last, batch.count < Self.maximumCoalescedCommits,
                byteCount < Self.maximumCoalescedBytes, let next = try await self.commits?.next()
            {
                byteCount += next.contentByteCount
                batch.append(try await request.addingBeforeImages(to: next, from: store))
            }
            guard batch.count > 1, let all = Commit(coalescing: batch) else { break }
            coalesced = all
        } while hasPausedRuns && coalesced.contentByteCount < Self.maximumCoalescedBytes
        mustCatchUp = hasPausedRuns && coalesced.sequence < last
        return coalesced
    }

    /// A heartbeat, if more than half of the retained commits have passed since the last resume token. Without it, a client of a
    /// quiet target that reconnects late would have to read the initial state again.
    private var periodicHeartbeat: [OutgoingWatchFrame] {
        let position = store.position
        let passed = state.sequence.rawValue - min(lastTokenSequence, state.sequence).rawValue
        let retained =
            position.lastSequence.rawValue + 1 - min(position.oldestRetained.rawValue, position.lastSequence.rawValue)
        guard case .live = phase, passed >= Self.minimumCommitsBetweenHeartbeats, passed > retained / 2 else { return [] }
        return state.heartbeat.map { [$0] } ?? []
    }

    /// True if the log was found to be another one since the stream began.
    private var isOfEarlierLog: Bool { store.restartCount != restartCount }

    private nonisolated(nonsending) func nextCommit() async throws(StatusError) -> Commit? {
        guard !isOfEarlierLog else { throw .otherLog }
        var commits = commits ?? store.commits(after: state.sequence).makeAsyncIterator()
        let commit = try await commits.next()
        guard !isOfEarlierLog else { throw .otherLog }
        self.commits = commits
        // The log ends only when the store is closed.
        if commit == nil, !Task.isCancelled { wakeup.end(.shutdown) }
        return commit
    }
}

extension StatusError {
    /// The error of a stream of a log that is another one now.
    static let otherLog = StatusError(.outOfRange, "The history of the database was replaced. Read the documents again.")
}

extension DocumentStore {
    /// Returns whether an error of a stream means that commits after its position, which it requires, are no longer retained.
    func hasLostHistory(after sequence: SequenceNumber, _ error: StatusError) async throws(StatusError) -> Bool {
        switch error.code {
        case .outOfRange: return true
        case .failedPrecondition:
            let position = try await safePosition()
            return sequence < position.lastSequence && sequence < position.oldestRetained
        default: return false
        }
    }
}
