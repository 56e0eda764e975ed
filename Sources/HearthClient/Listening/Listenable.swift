internal import SyncEngine

/// A document or query that can be listened to.
protocol Listenable: Sendable {
    associatedtype Snapshot: Sendable
    var firestore: Firestore { get }

    /// Calls `receive` with the current snapshot and after every change, until the task is cancelled or the database is
    /// terminated. For a database without a local cache.
    func listen(_ receive: (Snapshot) -> Void) async throws(FirestoreError)

    /// Adds a listener to a session.
    ///
    /// - Parameter ended: Called when the database is terminated.
    func listen(
        in session: any SyncSession,
        _ options: ListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable (Result<Snapshot, any Error>) -> Void
    ) throws(FirestoreError) -> ListenerID
}

extension Listenable {
    /// Adds a listener, which is called with every snapshot on the callback queue.
    func addListener(
        _ options: SnapshotListenOptions,
        _ listener: @escaping (Snapshot?, (any Error)?) -> Void
    ) -> any ListenerRegistration {
        let registration = ListenerTask()
        start(registration, options, ended: {}, registration.handler(calling: listener, on: firestore.callbackQueue))
        return registration
    }

    /// The snapshots as a sequence. Each iteration adds its own listener.
    func snapshotSequence(_ options: SnapshotListenOptions) -> SnapshotSequence<Snapshot> {
        SnapshotSequence { receive, end in
            let registration = ListenerTask()
            start(registration, options, ended: end, receive)
            return registration
        }
    }

    private func start(
        _ registration: ListenerTask,
        _ options: SnapshotListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable (Result<Snapshot, any Error>) -> Void
    ) {
        do throws(FirestoreError) {
            if let session = try firestore.session() {
                let id = try listen(in: session, options.listenOptions, ended: ended, receive)
                registration.onRemoval { session.removeListener(id) }
                return
            }
        } catch {
            return receive(.failure(error))
        }
        registration.start {
            do throws(FirestoreError) {
                try options.source.check()
                try await listen { receive(.success($0)) }
                ended()
            } catch {
                receive(.failure(error))
            }
        }
    }
}
