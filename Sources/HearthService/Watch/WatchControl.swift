import Dispatch
import DocumentModel
import DocumentStore
import Synchronization

/// Lets a watch stream wait for the next commit, and interrupts it: when a heartbeat is due, when its time is over, and when it
/// is to end.
///
/// Most streams wait most of the time. So waiting takes a continuation and a timer, and no task of its own.
final class WatchControl: Sendable {
    /// Why a wait was interrupted.
    enum Interruption: Sendable {
        /// Nothing was sent for the time of a heartbeat.
        case heartbeat
        /// The stream ends; without a reason when there is nobody to tell it.
        case end(WatchFrame.EndReason?)
    }

    fileprivate struct State {
        var nextHeartbeat: ContinuousClock.Instant
        var isHeartbeatDue = false
        var end: Interruption?
        /// Goes on with who waits for the end.
        var endWaiter: CheckedContinuation<Void, Never>?
        /// How many waits there have been.
        var waitCount: UInt64 = 0
        /// Goes on with the wait that is going on, the last one.
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

    /// Ends the stream as soon as it has sent what it is sending. Only the first reason counts.
    func end(_ reason: WatchFrame.EndReason?) {
        let waiter = state.withLock { state in
            if state.end == nil { state.end = .end(reason) }
            return state.takeWaiter()
        }
        waiter?.resume()
        wakeEndWaiter()
    }

    /// Waits until the stream is to end, or the task is cancelled. Its time may be over before: that is noticed between two steps.
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

    /// Notes that something is sent, which puts the next heartbeat off.
    func noteSent() {
        state.withLock { state in
            state.nextHeartbeat = .now + heartbeat
            state.isHeartbeatDue = false
        }
    }

    /// What the stream has to do before it goes on.
    var interruption: Interruption? {
        state.withLock { state in
            state.advance(to: .now, heartbeat: heartbeat, deadline: deadline)
            return state.interruption
        }
    }

    /// Waits until there is a commit after `sequence`, or an interruption, or the task is cancelled.
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
                // Cancelled before it waited, it was not woken.
                if Task.isCancelled { end(wait: wait) }
            }
        } onCancel: {
            end(wait: wait)
        }
        notification?.cancel()
    }

    /// Ends a wait that is going on. A commit may be told of when its wait is over: then another one is not taken for it.
    private func end(wait: UInt64) {
        let waiter = state.withLock { state in wait == state.waitCount ? state.takeWaiter() : nil }
        waiter?.resume()
    }

    /// Sees to it that the wait ends when a heartbeat is due or the time is over. One timer at a time runs for a stream, however
    /// many commits it waits for.
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
        // Something was sent meanwhile.
        if isWaiting { setTimer() }
    }
}

extension WatchControl.State {
    fileprivate var interruption: WatchControl.Interruption? {
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
