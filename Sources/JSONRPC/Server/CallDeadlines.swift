internal import Synchronization

/// Cancels calls whose time is up.
///
/// One task sleeps for all calls, until the earliest of their deadlines: a timer for each would cost a quick call more than its
/// work does. The task ends when it wakes and finds no call, so it may outlive the calls by a timeout, and nothing waits for it.
package final class CallDeadlines: Sendable {
    private struct Call {
        let deadline: Duration
        let cancel: @Sendable () -> Void
    }

    private struct State {
        var calls: [UInt64: Call] = [:]
        var lastID: UInt64 = 0
        var isWatching = false
    }

    private let state = Mutex(State())
    private let timeout: Duration
    /// The time since this was made.
    private let now: @Sendable () -> Duration
    private let sleep: @Sendable (Duration) async throws -> Void

    /// - Parameter clock: What the time is measured with.
    package init(timeout: Duration, clock: some Clock<Duration> = ContinuousClock()) {
        self.timeout = timeout
        let start = clock.now
        now = { start.duration(to: clock.now) }
        sleep = { try await clock.sleep(for: $0) }
    }

    /// Runs a call, cancels it when its time is up or the surrounding task is cancelled, and waits for its end in any case.
    ///
    /// What a late call has done is told as it is: only when it gave up because it was cancelled is the answer
    /// ``RPCErrorCode/deadlineExceeded``.
    package func run<Value: Sendable>(
        on executor: (any TaskExecutor)? = nil,
        _ call: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let task = Task(executorPreference: executor) { try await call() }
        let id = begin { task.cancel() }
        let result = await withTaskCancellationHandler {
            await task.result
        } onCancel: {
            task.cancel()
        }
        let isLate = !end(id)
        if isLate, case .failure(let error) = result, Self.isCancellation(error) {
            throw RPCError.deadlineExceeded(timeout, isExecuted: true)
        }
        return try result.get()
    }

    /// When calls that belong together and begin now should all have begun.
    func endOfBatch() -> Duration {
        now() + timeout * Self.batchFactor
    }

    /// Makes sure that a call begins before the end of its batch.
    func checkIsBefore(_ end: Duration) throws(RPCError) {
        guard now() >= end else { return }
        throw .deadlineExceeded(timeout * Self.batchFactor, isExecuted: false)
    }

    /// How much longer the calls of a batch may take together than one of them: what is slow may be asked for in a batch, but not
    /// hold a connection for hours.
    private static let batchFactor = 4

    private func begin(_ cancel: @escaping @Sendable () -> Void) -> UInt64 {
        let deadline = now() + timeout
        let (id, startsWatching) = state.withLock { state in
            state.lastID += 1
            state.calls[state.lastID] = Call(deadline: deadline, cancel: cancel)
            defer { state.isWatching = true }
            return (state.lastID, !state.isWatching)
        }
        // Detached, so that it has nothing of the call that happened to start it.
        if startsWatching { Task.detached { await self.watch() } }
        return id
    }

    /// Whether the call ended before its time was up.
    private func end(_ id: UInt64) -> Bool {
        state.withLock { $0.calls.removeValue(forKey: id) != nil }
    }

    private func watch() async {
        while let deadline = earliestDeadline() {
            do {
                try await sleep(max(deadline - now(), .zero))
            } catch {
                // Nobody cancels this task; a clock that refuses to sleep leaves the next call to begin anew.
                state.withLock { $0.isWatching = false }
                return
            }
            for call in takeCalls(due: deadline) { call.cancel() }
        }
    }

    /// When to wake; nil, and watching is over, when there is no call.
    private func earliestDeadline() -> Duration? {
        state.withLock { state in
            let earliest = state.calls.values.lazy.map(\.deadline).min()
            state.isWatching = earliest != nil
            return earliest
        }
    }

    private func takeCalls(due deadline: Duration) -> [Call] {
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
