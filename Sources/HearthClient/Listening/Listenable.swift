internal import DocumentModel
internal import SyncEngine

/// A document or query that can be listened to.
protocol Listenable: Sendable {
    associatedtype Snapshot: Sendable
    var firestore: Firestore { get }

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
        let registration = SnapshotListener()
        start(registration, options, ended: {}, registration.handler(calling: listener, on: firestore.callbackQueue))
        return registration
    }

    /// The snapshots as a sequence. Each iteration adds its own listener.
    func snapshotSequence(_ options: SnapshotListenOptions) -> SnapshotSequence<Snapshot> {
        SnapshotSequence { receive, end in
            let registration = SnapshotListener()
            start(registration, options, ended: end, receive)
            return registration
        }
    }

    private func start(
        _ registration: SnapshotListener,
        _ options: SnapshotListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ receive: @escaping @Sendable (Result<Snapshot, any Error>) -> Void
    ) {
        let isLate = firestore.isTerminated
        // The first snapshot includes all queued writes. With a local cache, the session has them.
        firestore.writes.afterPending {
            guard !registration.isRemoved else { return }
            do throws(FirestoreError) {
                let client = try firestoreErrors { () throws(StatusError) in try firestore.client() }
                if client.session == nil { try options.source.check() }
                let listenOptions = client.session == nil ? .withoutCache : options.listenOptions
                let session = try firestoreErrors { () throws(StatusError) in try firestore.listeningSession() }
                let id = try listen(in: session, listenOptions, ended: ended, receive)
                registration.onRemoval { session.removeListener(id) }
            } catch {
                // A termination since then has ended the listener.
                if isLate || !firestore.isTerminated { receive(.failure(error)) } else { ended() }
            }
        }
    }
}
