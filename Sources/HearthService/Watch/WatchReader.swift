import DocumentModel
import DocumentStore

/// Reads one stream, step by step.
///
/// A class, so that none of its state lies in the memory of the task that waits for it, which lives as long as the stream. For the
/// same reason each step that has to read is a task of its own: a task keeps what its deepest call took. A commit that is in memory
/// mostly tells all that is needed; that takes a few microseconds, and a task for it would take as long again.
final class WatchReader {
    enum Phase {
        case opening
        /// The initial state is read.
        case reading
        /// What was committed since the token is replayed.
        case resuming
        case live
        case ended
    }

    private let session: WatchSession
    var phase = Phase.opening
    var progress: WatchProgress
    var scan: CollectionScan?
    /// How many changes have been sent since the state was complete.
    var changeCount = 0
    /// The commit of the last token that was sent.
    var bookmarkedSequence = SequenceNumber.zero
    /// Reads the commits that are there already; nil when it is not known where it stands.
    var commits: CommitSequence.AsyncIterator?
    /// Whether it was told that there is a commit, or never will be one.
    private var hasWaited = false
    /// Since when its steps are refused because too much is asked for; nil when the last one was not.
    var refusedSince: ContinuousClock.Instant?

    init(_ session: WatchSession) {
        self.session = session
        progress = WatchProgress(session.request.target, at: session.store.position)
    }

    var request: WatchRequest { session.request }
    var store: any DocumentStore { session.store }
    var control: WatchControl { session.control }

    /// Whether there are commits already that the stream has not come to.
    var isBehind: Bool { commits != nil && progress.sequence < store.position.lastSequence }

    /// Whether there are more of them than are taken at once.
    var isFarBehind: Bool {
        let last = store.position.lastSequence.rawValue
        return isBehind && last - min(progress.sequence.rawValue, last) > UInt64(Self.maximumJoined)
    }

    /// The next frames, at least one where it `waits` for them; nil at the end.
    nonisolated(nonsending) func next(waits: Bool) async throws(StatusError) -> [WatchFrame]? {
        while true {
            switch nextAction() {
            case .give(let frames): return frames
            case .end: return nil
            case .waitForCommit where !waits, .step where !waits: return []
            case .waitForCommit:
                hasWaited = true
                await control.waitForCommit(after: progress.sequence, in: store)
            case .step:
                hasWaited = false
                if let frames = told(try await stepInOwnTask()) { return frames }
            }
        }
    }

    private enum Action {
        case give([WatchFrame])
        case waitForCommit
        case step
        case end
    }

    // What is not inlined takes no room in the memory of the task that waits.

    @inline(never)
    private func nextAction() -> Action {
        while phase != .ended, !Task.isCancelled {
            if let interruption = control.interruption {
                hasWaited = false
                if let frames = told(frames(of: interruption)) { return .give(frames) }
                continue
            }
            if lacksCommit, !hasWaited {
                commits = nil
                return .waitForCommit
            }
            guard let frames = takeCommitFromMemory() else { return .step }
            hasWaited = false
            if let frames = told(frames) { return .give(frames) }
        }
        phase = .ended
        return .end
    }

    private func frames(of interruption: WatchControl.Interruption) -> [WatchFrame] {
        switch interruption {
        case .end(let reason):
            phase = .ended
            return reason.map { [.end($0, token: progress.bookmark)] } ?? []
        case .heartbeat:
            control.noteSent()
            return progress.checkpoint.map { [$0] } ?? []
        }
    }

    /// Notes that frames are sent, and gives them with what the watcher wants to know; nil when there are none.
    @inline(never)
    private func told(_ frames: [WatchFrame]) -> [WatchFrame]? {
        guard !frames.isEmpty else { return nil }
        control.noteSent()
        note(frames)
        return frames.map { $0.telling(request.contents) }
    }

    /// Whether the next step is to take a commit that isn't there yet.
    private var lacksCommit: Bool {
        let takesCommit =
            switch phase {
            case .live: true
            case .reading, .resuming: !progress.isSettled
            case .opening, .ended: false
            }
        return takesCommit && progress.sequence >= store.position.lastSequence
    }

    /// Waits for a moment; gives whether the stream is still to go on.
    private nonisolated(nonsending) func pauseBeforeTrying() async -> Bool {
        try? await Task.sleep(for: request.patience.nextPause)
        return control.interruption == nil
    }

    @inline(never)
    private nonisolated(nonsending) func stepInOwnTask() async throws(StatusError) -> [WatchFrame] {
        // Of the tasks only one uses it at a time: this one waits for the other.
        nonisolated(unsafe) let reader = self
        let control = control
        let frames = await withTaskGroup(of: Result<[WatchFrame], StatusError>?.self) { group in
            group.addTask { await Result { () async throws(StatusError) in try await reader.stepOrBeginAnew() } }
            // What takes long is not read to its end for somebody who has left.
            group.addTask {
                await control.waitForEnd()
                return nil
            }
            var frames: Result<[WatchFrame], StatusError>?
            while let finished = await group.next() {
                frames = finished ?? frames
                group.cancelAll()
            }
            return frames
        }
        return try frames?.get() ?? []
    }

    /// Does the next step. Where the store refuses that because too much is asked of it, nothing has happened, and it is to be tried
    /// again.
    private nonisolated(nonsending) func stepOrBeginAnew() async throws(StatusError) -> [WatchFrame] {
        if refusedSince != nil, await !pauseBeforeTrying() { return [] }
        do throws(StatusError) {
            let frames = try await step()
            refusedSince = nil
            return frames.isEmpty ? bookmarkInTime : frames
        } catch {
            if isLost(error) { return [lose(phase == .resuming ? .expired : .lagged)] }
            // The end is told instead.
            if error.code == .cancelled, case .end? = control.interruption { return [] }
            guard mayTryAgain(after: error) else { throw error }
            return []
        }
    }

    /// Whether the stream still has the patience for another try.
    private func mayTryAgain(after error: StatusError) -> Bool {
        guard error.code == .unavailable, error.retryAfter != nil else { return false }
        let start = refusedSince ?? .now
        refusedSince = start
        return .now - start < request.patience.total
    }

    /// Begins anew where the stream can't go on, or ends it where that is asked for.
    func lose(_ reason: WatchFrame.ResetReason) -> WatchFrame {
        guard request.onExpired == .reset else {
            phase = .ended
            return .end(.slow, token: nil)
        }
        begin(at: store.position)
        return .reset(reason)
    }

    /// Whether a step has failed because commits that it needs are no longer kept.
    func isLost(_ error: StatusError) -> Bool {
        let position = store.position
        return switch error.code {
        case .outOfRange: true
        case .failedPrecondition: progress.sequence < position.lastSequence && progress.sequence < position.oldestKept
        default: false
        }
    }

    private nonisolated(nonsending) func step() async throws(StatusError) -> [WatchFrame] {
        switch phase {
        case .opening:
            return try await open()
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
