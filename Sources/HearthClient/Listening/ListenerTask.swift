internal import Dispatch
internal import DocumentModel
internal import Synchronization

/// The task of a listener, or its registration in a session, which ends when the listener is removed.
final class ListenerTask: ListenerRegistration {
    private let state = Mutex(State())

    private struct State {
        var isRemoved = false
        var task: Task<Void, Never>?
        var end: (@Sendable () -> Void)?
    }

    func remove() {
        let (task, end) = state.withLock { state in
            state.isRemoved = true
            defer { (state.task, state.end) = (nil, nil) }
            return (state.task, state.end)
        }
        task?.cancel()
        end?()
    }

    var isRemoved: Bool {
        state.withLock(\.isRemoved)
    }

    /// Starts an unstructured task that provides the snapshots. It is cancelled when the listener is removed.
    func start(_ operation: @escaping @Sendable () async -> Void) {
        state.withLock { state in
            guard !state.isRemoved else { return }
            state.task = Task { await operation() }
        }
    }
}

extension ListenerTask {
    /// Calls `end` once when the listener is removed, or at once if it has been.
    func onRemoval(_ end: @escaping @Sendable () -> Void) {
        let isRemoved = state.withLock { state in
            if !state.isRemoved { state.end = end }
            return state.isRemoved
        }
        if isRemoved { end() }
    }

    /// Returns a handler that calls a user's listener on a queue, unless the listener has been removed.
    func handler<Snapshot: Sendable>(
        calling listener: @escaping (Snapshot?, (any Error)?) -> Void,
        on queue: DispatchQueue
    ) -> @Sendable (Result<Snapshot, any Error>) -> Void {
        let listener = UncheckedSendable(listener)
        return { result in
            queue.async {
                guard !self.isRemoved else { return }
                switch result {
                case .success(let snapshot): listener.value(snapshot, nil)
                case .failure(let error): listener.value(nil, error)
                }
            }
        }
    }
}
