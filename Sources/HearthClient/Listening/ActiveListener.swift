internal import Synchronization

/// A listener that runs until it is removed.
final class ActiveListener: ListenerRegistration {
    private let state = Mutex(State())

    private struct State {
        var isRemoved = false
        var task: Task<Void, Never>?
    }

    func remove() {
        let task = state.withLock { state in
            state.isRemoved = true
            defer { state.task = nil }
            return state.task
        }
        task?.cancel()
    }

    var isRemoved: Bool {
        state.withLock(\.isRemoved)
    }

    /// Runs what feeds the listener. The task outlives the caller: it ends when the listener is removed.
    func start(_ operation: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isRemoved else { return }
            state.task = Task { await operation() }
        }
    }
}
