import DocumentModel
import Synchronization

/// Interrupts a watch stream that waits for the next commit: when a heartbeat is due, when its time is over, and when it is
/// to end.
///
/// One timer runs for a stream, however many commits it waits for.
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
        /// Cancels the wait that is going on.
        var cancelWait: (@Sendable () -> Void)?
    }

    private let state: Mutex<State>
    private let heartbeat: Duration
    private let deadline: ContinuousClock.Instant?
    /// Where the stream's own tasks run; with all others when nil.
    let executor: (any TaskExecutor)?

    init(heartbeat: Duration, timeout: Duration?, on executor: (any TaskExecutor)? = nil) {
        self.executor = executor
        let now = ContinuousClock.now
        self.heartbeat = heartbeat
        self.deadline = timeout.map { now + $0 }
        self.state = Mutex(State(nextHeartbeat: now + heartbeat))
    }

    /// Ends the stream as soon as it has sent what it is sending. Only the first reason counts.
    func end(_ reason: WatchFrame.EndReason?) {
        let cancelWait = state.withLock { state in
            if state.end == nil { state.end = .end(reason) }
            return state.cancelWait
        }
        cancelWait?()
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
        state.withLock { $0.interruption }
    }

    /// Waits for a value, and no longer than until there is an interruption; nil then, and when `operation` gives nil.
    func wait<Value: Sendable>(
        for operation: @escaping @Sendable () async throws(StatusError) -> Value?
    ) async throws(StatusError) -> Value? {
        // A task of its own, so that it can be cancelled alone. It does not outlive this call.
        let task = Task(executorPreference: executor) { () -> Result<Value?, StatusError> in
            do throws(StatusError) {
                return .success(try await operation())
            } catch {
                return .failure(error)
            }
        }
        let isInterrupted = state.withLock { state in
            state.cancelWait = { task.cancel() }
            return state.interruption != nil
        }
        if isInterrupted { task.cancel() }
        defer { state.withLock { $0.cancelWait = nil } }
        return try await withTaskCancellationHandler {
            await task.value
        } onCancel: {
            task.cancel()
        }.get()
    }

    /// Runs the timer until the stream is to end, or its task is cancelled.
    func runTimer() async {
        var wakeUp: ContinuousClock.Instant? = .now
        while let instant = wakeUp, (try? await Task.sleep(until: instant, clock: .continuous)) != nil {
            let cancelWait: (@Sendable () -> Void)?
            (wakeUp, cancelWait) = state.withLock { state in
                state.advance(to: ContinuousClock.now, heartbeat: heartbeat, deadline: deadline)
                return (
                    state.end == nil ? min(state.nextHeartbeat, deadline ?? state.nextHeartbeat) : nil,
                    state.interruption == nil ? nil : state.cancelWait
                )
            }
            cancelWait?()
        }
    }
}

extension WatchControl.State {
    fileprivate var interruption: WatchControl.Interruption? {
        end ?? (isHeartbeatDue ? .heartbeat : nil)
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
