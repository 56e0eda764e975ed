internal import Synchronization

/// The outcome of one piece of work, for which several callers wait, each for a limited time.
///
/// A caller that has waited in vain leaves nothing behind that grows with their number, however long the work takes.
package final class SharedOutcome<Value: Sendable>: Sendable {
    private struct State {
        var value: Value?
        var waiters = Waiters()
    }

    private let state = Mutex(State())

    package init() {}

    /// Ends the work, and with it all waits.
    package func end(with value: Value) {
        let waiters = state.withLock { state in
            state.value = value
            return state.waiters.removeAll()
        }
        for waiter in waiters { waiter.resume() }
    }

    /// True if the work has ended.
    package var hasEnded: Bool { state.withLock { $0.value != nil } }

    /// Waits for the outcome; `nil` if it is not there in time, or the task is cancelled.
    package func value(within limit: Duration) async -> Value? {
        let waiter = state.withLock { state in state.value == nil ? state.waiters.add() : nil }
        guard let waiter else { return state.withLock(\.value) }
        let timer = Task { if (try? await Task.sleep(for: limit)) != nil { waiter.resume() } }
        await waiter.wait()
        timer.cancel()
        return state.withLock(\.value)
    }

    /// The number of callers that wait.
    var waiterCount: Int { state.withLock { $0.waiters.count } }
}
