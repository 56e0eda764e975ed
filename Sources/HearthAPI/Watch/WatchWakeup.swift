import Dispatch
import DocumentModel
import DocumentStore
import Synchronization

/// The wait of a watch stream for its next commit, and the interruptions of the wait: heartbeats, the timeout, and the end of the
/// stream.
///
/// Most streams are idle most of the time, so a wait takes a continuation and a timer but no task of its own.
final class WatchWakeup: Sendable {
    /// The reason why a wait was interrupted.
    enum Interruption: Sendable {
        /// No frame was sent for the heartbeat interval.
        case heartbeat
        /// The stream ends, without a reason if the client has disconnected.
        case end(OutgoingWatchFrame.EndReason?)
    }

    fileprivate struct State {
        var nextHeartbeat: ContinuousClock.Instant
        var isHeartbeatDue = false
        var end: Interruption?
        /// The continuation of ``waitForEnd()``.
        var endWaiter: CheckedContinuation<Void, Never>?
        /// The number of waits so far.
        var waitCount: UInt64 = 0
        /// The continuation of the current wait.
        var waiter: CheckedContinuation<Void, Never>?
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
        let waiter = state.withLock { state in
            if state.end == nil { state.end = .end(reason) }
            return state.takeWaiter()
        }
        waiter?.resume()
        wakeEndWaiter()
    }

    /// Waits until the stream is to end or the task is cancelled. The timeout does not end this wait; it is checked between
    /// steps.
    nonisolated(nonsending) func waitForEnd() async {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard state.end == nil, !Task.isCancelled else { return false }
                    state.endWaiter = continuation
                    return true
                }
                if !isWaiting { continuation.resume() }
            }
        } onCancel: {
            wakeEndWaiter()
        }
    }

    private func wakeEndWaiter() {
        let waiter = state.withLock { state in
            defer { state.endWaiter = nil }
            return state.endWaiter
        }
        waiter?.resume()
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

    /// Waits until a commit after `sequence` exists, an interruption is pending, or the task is cancelled.
    @inline(never)
    nonisolated(nonsending) func waitForCommit(after sequence: SequenceNumber, in store: any DocumentStore) async {
        setTimer()
        let wait = state.withLock { state in
            state.waitCount += 1
            return state.waitCount
        }
        var notification: CommitNotification?
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isWaiting = state.withLock { state in
                    guard state.interruption == nil else { return false }
                    state.waiter = continuation
                    return true
                }
                guard isWaiting else { return continuation.resume() }
                notification = store.notify(after: sequence) { [self] in end(wait: wait) }
                // A cancellation before the wait has not resumed the continuation.
                if Task.isCancelled { end(wait: wait) }
            }
        } onCancel: {
            end(wait: wait)
        }
        notification?.cancel()
    }

    /// Ends a wait. A notification may arrive after the end of its wait; the number keeps it from ending a later one.
    private func end(wait: UInt64) {
        let waiter = state.withLock { state in wait == state.waitCount ? state.takeWaiter() : nil }
        waiter?.resume()
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
            self?.timerFired()
        }
    }

    private func timerFired() {
        let (waiter, isWaiting) = state.withLock { state in
            state.isTimerSet = false
            state.advance(to: .now, heartbeat: heartbeat, deadline: deadline)
            return (state.interruption == nil ? nil : state.takeWaiter(), state.waiter != nil)
        }
        waiter?.resume()
        // A frame was sent since the timer was set.
        if isWaiting { setTimer() }
    }
}

extension WatchWakeup.State {
    fileprivate var interruption: WatchWakeup.Interruption? {
        end ?? (isHeartbeatDue ? .heartbeat : nil)
    }

    fileprivate mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
        defer { waiter = nil }
        return waiter
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
