internal import Dispatch
internal import Synchronization

/// The registration of a listener in a session, which ends when the listener is removed.
final class SnapshotListener: ListenerRegistration {
    private let state = Mutex(State())

    private struct State {
        var isRemoved = false
        var end: (@Sendable () -> Void)?
    }

    func remove() {
        let end = state.withLock { state in
            state.isRemoved = true
            defer { state.end = nil }
            return state.end
        }
        end?()
    }

    var isRemoved: Bool {
        state.withLock(\.isRemoved)
    }

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
