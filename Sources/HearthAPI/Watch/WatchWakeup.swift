import Concurrency
import Dispatch
import DocumentModel
import DocumentStore
import Synchronization

/// The wait of a watch stream for its next commit, and the interruptions of the wait: heartbeats, the timeout, and the end of the
/// stream.
///
/// Most streams are idle most of the time, so a wait uses a waiter and a timer but no separate task.
final class WatchWakeup: Sendable {
    /// The reason why a wait was interrupted.
    enum Interruption: Sendable {
        /// Other rules decide: the access to the target has to be decided again.
        case rulesChange
        /// No frame was sent for the heartbeat interval.
        case heartbeat
        /// The stream ends, without a reason if the client has disconnected.
        case end(OutgoingWatchFrame.EndReason?)
    }

    fileprivate struct State {
        var nextHeartbeat: ContinuousClock.Instant
        var isHeartbeatDue = false
        var hasRulesChanged = false
        var end: Interruption?
        /// The last wait for the end.
        var endWaiter: Waiter?
        /// The wait for the next commit, if any.
        var waiter: Waiter?
        var isTimerSet = false
    }

    private let state: Mutex<State>
    private let heartbeat: Duration
    private let deadline: ContinuousClock.Instant?

    init(heartbeat: Duration, timeout: Duration?) {
        let now = ContinuousClock.now
        self.heartbeat = heartbeat
        self.deadline = timeout.map { now + $0 }
        self.state = Mutex(State(nextHeartbeat: now + heartbeat))
    }

    /// Ends the stream after the current batch of frames. Only the first reason counts.
    func end(_ reason: OutgoingWatchFrame.EndReason?) {
        let waiters = state.withLock { state in
            if state.end == nil { state.end = .end(reason) }
            return [state.waiter, state.endWaiter]
        }
        for waiter in waiters { waiter?.resume() }
    }

    /// Interrupts the stream because other rules decide.
    func recordRulesChange() {
        let waiter = state.withLock { state in
            state.hasRulesChanged = true
            return state.waiter
        }
        waiter?.resume()
    }

    /// True if other rules decide since the last call of ``takeRulesChange()``.
    var hasRulesChanged: Bool { state.withLock(\.hasRulesChanged) }

    /// Returns whether other rules decide since the last call.
    func takeRulesChange() -> Bool {
        state.withLock { state in
            defer { state.hasRulesChanged = false }
            return state.hasRulesChanged
        }
    }

    /// Waits until the end of the stream is requested or the task is cancelled. The timeout does not end this wait; it is checked
    /// between steps.
    nonisolated(nonsending) func waitForEnd() async {
        let waiter = state.withLock { state -> Waiter? in
            guard state.end == nil else { return nil }
            state.endWaiter = Waiter()
            return state.endWaiter
        }
        await waiter?.wait()
    }

    /// Records that a frame is sent, which postpones the next heartbeat.
    func recordSend() {
        state.withLock { state in
            state.nextHeartbeat = .now + heartbeat
            state.isHeartbeatDue = false
        }
    }

    /// The pending interruption, if any.
    var interruption: Interruption? {
        state.withLock { state in
            state.advance(to: .now, heartbeat: heartbeat, deadline: deadline)
            return state.interruption
        }
    }

    /// Records that a frame is sent, unless an interruption is pending. Returns whether it did.
    func recordSendUnlessInterrupted() -> Bool {
        state.withLock { state in
            let now = ContinuousClock.now
            state.advance(to: now, heartbeat: heartbeat, deadline: deadline)
            guard state.interruption == nil else { return false }
            state.nextHeartbeat = now + heartbeat
            return true
        }
    }

    /// Waits until a commit after `sequence` exists, an interruption is pending, or the task is cancelled.
    @inline(never)
    nonisolated(nonsending) func waitForCommit(after sequence: SequenceNumber, in store: any DocumentStore) async {
        var notification: CommitNotification?
        await wait { waiter in notification = store.notify(after: sequence) { waiter.resume() } }
        notification?.cancel()
    }

    /// Waits until the waiter that is passed to `start` is resumed, an interruption is pending, or the task is cancelled. If an
    /// interruption is pending already, `start` is not called.
    nonisolated(nonsending) func wait(_ start: (Waiter) -> Void) async {
        // Each wait has its own waiter, since the notification for an earlier wait may arrive late.
        let waiter = Waiter()
        let isWaiting = state.withLock { state in
            guard state.interruption == nil else { return false }
            state.waiter = waiter
            return true
        }
        guard isWaiting else { return }
        // After the waiter is set: a timer that finds none is not restarted.
        setTimer()
        start(waiter)
        await waiter.wait()
        state.withLock { $0.waiter = nil }
    }

    /// Starts the timer for the next heartbeat or the timeout. A stream has at most one running timer, however many waits it
    /// makes.
    private func setTimer() {
        let wakeUp = state.withLock { state -> ContinuousClock.Instant? in
            guard !state.isTimerSet, state.end == nil else { return nil }
            state.isTimerSet = true
            return min(state.nextHeartbeat, deadline ?? state.nextHeartbeat)
        }
        guard let wakeUp else { return }
        let nanoseconds = Int((ContinuousClock.now.duration(to: wakeUp) / .nanoseconds(1)).rounded(.up))
        DispatchQueue.global().asyncAfter(deadline: .now() + .nanoseconds(max(0, nanoseconds))) { [weak self] in
            self?.handleTimer()
        }
    }

    private func handleTimer() {
        let (waiter, isInterrupted) = state.withLock { state in
            state.isTimerSet = false
            state.advance(to: .now, heartbeat: heartbeat, deadline: deadline)
            return (state.waiter, state.interruption != nil)
        }
        guard let waiter else { return }
        // There is no interruption if a frame has been sent since the timer was set.
        if isInterrupted { waiter.resume() } else { setTimer() }
    }
}

extension WatchWakeup.State {
    fileprivate var interruption: WatchWakeup.Interruption? {
        end ?? (hasRulesChanged ? .rulesChange : isHeartbeatDue ? .heartbeat : nil)
    }

    fileprivate mutating func advance(to now: ContinuousClock.Instant, heartbeat: Duration, deadline: ContinuousClock.Instant?) {
        if let deadline, now >= deadline, end == nil {
            end = .end(.timeout)
        }
        if now >= nextHeartbeat {
            isHeartbeatDue = true
            nextHeartbeat = now + heartbeat
        }
    }
}
