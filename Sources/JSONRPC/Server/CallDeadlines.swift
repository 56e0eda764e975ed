package import Concurrency
internal import Synchronization

/// The deadlines of running calls, enforced by cancelling their tasks.
///
/// One timer task sleeps until the earliest deadline of all calls: a timer per call would cost more than the work of a quick
/// call. The timer task ends when it wakes and no calls remain; it may outlive the last call by up to one timeout, and nothing
/// waits for it.
package final class CallDeadlines: Sendable {
    private struct Call {
        let deadline: Duration
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var calls: [UInt64: Call] = [:]
        var lastID: UInt64 = 0
        var isTimerRunning = false
    }

    private let state = Mutex(State())
    private let timeout: Duration
    private let queueTime: Duration?
    private let onRefusal: @Sendable () -> Void
    /// Returns the time since initialization.
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// Creates the deadlines.
    ///
    /// - Parameters:
    ///   - queueTime: The time that a call may wait before its work begins, in any queue; `nil` for no limit but `timeout`.
    ///   - clock: The clock that measures the calls.
    ///   - onRefusal: Records a call that is refused because of `queueTime`.
    package init(
        timeout: Duration,
        queueTime: Duration? = nil,
        clock: some Clock<Duration> = ContinuousClock(),
        onRefusal: @escaping @Sendable () -> Void = {}
    ) {
        self.timeout = timeout
        self.queueTime = queueTime
        self.onRefusal = onRefusal
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Returns the deadlines of calls with another time limit, by the monotonic clock.
    package func with(timeout: Duration) -> CallDeadlines {
        CallDeadlines(timeout: timeout, queueTime: queueTime, onRefusal: onRefusal)
    }

    /// Runs a call, cancels it at its deadline or when the surrounding task is cancelled, and always waits for it to end.
    ///
    /// A late call that nevertheless completes returns its result. Only a call that ended because of the cancellation throws
    /// ``RPCErrorCode/deadlineExceeded``. A call that has waited too long before its work throws ``RPCErrorCode/unavailable``.
    ///
    /// - Parameter waiting: The time for which the call has waited for a thread, if that has begun before.
    package func run<Value: Sendable>(
        on executor: (any TaskExecutor)? = nil,
        waiting: Stopwatch = Stopwatch(),
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        guard let queueTime else { return try await wait(for: Task(executorPreference: executor) { try await call() }) }
        let admission = CallAdmission(queueTime: queueTime, timeout: timeout, onRefusal: onRefusal)
        // Tasks that the call has started may go on.
        defer { admission.end() }
        let task = CallAdmission.$current.withValue(admission) {
            Task(executorPreference: executor) {
                if let refusal = admission.refuseIfLate(after: waiting) { throw RPCError(refusing: refusal) }
                return try await call()
            }
        }
        return try await wait(for: task)
    }

    /// Waits for the task of a call, and cancels it at the deadline.
    private func wait<Value: Sendable>(for task: Task<Value, any Error>) async throws -> Value {
        let id = register { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let isLate = !unregister(id)
        if isLate, case .failure(let error) = result, Self.isCancellation(error) {
            throw RPCError.deadlineExceeded(timeout, isExecuted: true)
        }
        return try result.get()
    }

    /// Returns the time by which all calls of a batch that starts now must have started.
    func batchDeadline() -> Duration {
        now() + timeout * Self.batchFactor
    }

    /// Throws ``RPCErrorCode/deadlineExceeded`` when the deadline of a batch has passed.
    func checkBatchDeadline(_ deadline: Duration) throws(RPCError) {
        guard now() >= deadline else { return }
        throw .deadlineExceeded(timeout * Self.batchFactor, isExecuted: false)
    }

    /// The time limit of a batch as a multiple of that of a call: slow calls may be batched, but a batch must not occupy a
    /// connection for hours.
    private static let batchFactor = 4

    private func register(_ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        let deadline = now() + timeout
        let (id, startsTimer) = state.withLock { state in
            state.lastID += 1
            state.calls[state.lastID] = Call(deadline: deadline, cancel: cancel)
            defer { state.isTimerRunning = true }
            return (state.lastID, !state.isTimerRunning)
        }
        // Detached, so that it inherits nothing from the call that happens to start it.
        if startsTimer { Task.detached { await self.runTimer() } }
        return id
    }

    /// Removes a call. Returns `false` if its deadline has passed.
    private func unregister(_ id: UInt64) -> Bool {
        state.withLock { $0.calls.removeValue(forKey: id) != nil }
    }

    private func runTimer() async {
        while let deadline = earliestDeadline() {
            do {
                try await sleep(max(deadline - now(), .zero))
            } catch {
                // This task is never cancelled; when the clock fails to sleep, the next call starts the timer again.
                state.withLock { $0.isTimerRunning = false }
                return
            }
            for call in removeCalls(dueAt: deadline) { call.cancel() }
        }
    }

    /// Returns the earliest deadline; when there are no calls, returns `nil` and marks the timer as stopped.
    private func earliestDeadline() -> Duration? {
        state.withLock { state in
            let earliest = state.calls.values.lazy.map(\.deadline).min()
            state.isTimerRunning = earliest != nil
            return earliest
        }
    }

    private func removeCalls(dueAt deadline: Duration) -> [Call] {
        state.withLock { state in
            let due = state.calls.filter { $0.value.deadline <= deadline }
            for id in due.keys { state.calls.removeValue(forKey: id) }
            return Array(due.values)
        }
    }

    private static func isCancellation(_ error: any Error) -> Bool {
        error is CancellationError || (error as? any RPCErrorConvertible)?.rpcError.code == .cancelled
    }
}
