internal import Synchronization

/// A listener that was added, for removing it.
public final class ListenerRegistration: Sendable {
    private let state = Mutex(State())

    private struct State {
        var isRemoved = false
        var task: Task<Void, Never>?
    }

    init() {}

    /// Removes the listener: it is not called any more. Doing so again has no effect.
    ///
    /// Where listeners are called on a queue and this is called on the same one, that holds from here on; from elsewhere the
    /// listener may be at work at this moment.
    public func remove() {
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
