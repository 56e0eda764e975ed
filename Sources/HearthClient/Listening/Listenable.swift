/// A document or query that can be listened to.
protocol Listenable: Sendable {
    associatedtype Snapshot: Sendable
    var firestore: Firestore { get }

    /// Calls `receive` with the current snapshot and after every change, until the task is cancelled or the database is
    /// terminated.
    func listen(_ receive: (Snapshot) -> Void) async throws(FirestoreError)
}

extension Listenable {
    /// Adds a listener, which is called with every snapshot on the callback queue.
    func addListener(
        from source: ListenSource,
        _ listener: @escaping (Snapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let registration = ListenerTask()
        start(registration, from: source, registration.handler(calling: listener, on: firestore.callbackQueue))
        return registration
    }

    /// The snapshots as a sequence. Each iteration adds its own listener.
    var snapshotSequence: SnapshotSequence<Snapshot> {
        SnapshotSequence { receive in
            let registration = ListenerTask()
            start(registration, from: .default, receive)
            return registration
        }
    }

    private func start(
        _ registration: ListenerTask,
        from source: ListenSource,
        _ receive: @escaping @Sendable (Result<Snapshot, any Error>) -> Void
    ) {
        registration.start {
            do throws(FirestoreError) {
                try source.check()
                try await listen { receive(.success($0)) }
            } catch {
                receive(.failure(error))
            }
        }
    }
}
