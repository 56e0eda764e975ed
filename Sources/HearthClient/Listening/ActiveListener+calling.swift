internal import Dispatch
internal import DocumentModel

extension ActiveListener {
    /// Calls a user's listener on a queue, and not once it is removed.
    func calling<Snapshot: Sendable>(
        _ listener: @escaping (Snapshot?, (any Error)?) -> Void,
        on queue: DispatchQueue
    ) -> @Sendable (Result<Snapshot, any Error>) -> Void {
        let listener = Unchecked(listener)
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

extension ListenSource {
    func check() throws(FirestoreError) {
        try (self == .cache ? FirestoreSource.cache : .default).check()
    }
}
