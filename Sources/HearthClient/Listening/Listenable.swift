/// What can be listened to: a document, or the result of a query.
protocol Listenable: Sendable {
    associatedtype Snapshot: Sendable
    var firestore: Firestore { get }

    /// Hands over a snapshot, and another with every change, until the task is cancelled or the database terminated.
    func follow(_ receive: (Snapshot) -> Void) async throws(FirestoreError)
}

extension Listenable {
    /// Calls a user's listener with every snapshot, on the queue of the settings.
    func listen(
        from source: ListenSource,
        _ listener: @escaping (Snapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let registration = ActiveListener()
        start(registration, from: source, registration.calling(listener, on: firestore.callbackQueue))
        return registration
    }

    /// All snapshots. Each iteration listens for itself.
    var sequence: SnapshotSequence<Snapshot> {
        SnapshotSequence { receive in
            let registration = ActiveListener()
            start(registration, from: .default, receive)
            return registration
        }
    }

    private func start(
        _ registration: ActiveListener,
        from source: ListenSource,
        _ receive: @escaping @Sendable (Result<Snapshot, any Error>) -> Void
    ) {
        registration.start {
            do throws(FirestoreError) {
                try source.check()
                try await follow { receive(.success($0)) }
            } catch {
                receive(.failure(error))
            }
        }
    }
}
