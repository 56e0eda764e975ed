internal import Dispatch
internal import DocumentModel
internal import SyncEngine

extension Firestore {
    /// Ends all streams until ``enableNetwork()`` is called, and sends no writes. Listeners and reads use the local cache.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``.
    nonisolated(nonsending) public func disableNetwork() async throws {
        try await firestoreErrors { () throws(StatusError) in try requireSession() }.setNetworkEnabled(false)
    }

    /// Ends all streams and calls `completion`.
    public func disableNetwork(completion: (((any Error)?) -> Void)? = nil) {
        callBack(completion) { try await self.disableNetwork() }
    }

    /// Connects again, and sends the writes that wait.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``.
    nonisolated(nonsending) public func enableNetwork() async throws {
        try await firestoreErrors { () throws(StatusError) in try requireSession() }.setNetworkEnabled(true)
    }

    /// Connects again and calls `completion`.
    public func enableNetwork(completion: (((any Error)?) -> Void)? = nil) {
        callBack(completion) { try await self.enableNetwork() }
    }

    /// Adds a listener that is called once, and then whenever other listeners have been called: each of these has had all its events of
    /// what has arrived from the server.
    ///
    /// Without ``FirestoreSettings/cacheSettings`` it is called once only.
    @discardableResult
    public func addSnapshotsInSyncListener(_ listener: @escaping () -> Void) -> any ListenerRegistration {
        let registration = ListenerTask()
        let listener = UncheckedSendable(listener)
        let queue = callbackQueue
        let handler: @Sendable () -> Void = {
            queue.async {
                guard !registration.isRemoved else { return }
                listener.value()
            }
        }
        if let session = try? session() {
            let id = session.addSnapshotsInSyncListener(handler)
            registration.onRemoval { session.removeSnapshotsInSyncListener(id) }
        } else {
            handler()
        }
        return registration
    }
}
