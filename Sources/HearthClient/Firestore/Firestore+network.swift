internal import Dispatch
internal import DocumentModel
internal import SyncEngine

extension Firestore {
    /// Ends all streams until ``enableNetwork()`` is called, and sends no writes. Listeners and reads use the local cache.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``.
    nonisolated(nonsending) public func disableNetwork() async throws {
        try await setNetworkEnabled(false)
    }

    /// Ends all streams and calls `completion`.
    public func disableNetwork(completion: (((any Error)?) -> Void)? = nil) {
        setNetworkEnabled(false, completion)
    }

    /// Connects again, and sends the writes that wait.
    ///
    /// - Throws: ``FirestoreErrorCode/failedPrecondition`` without ``FirestoreSettings/cacheSettings``.
    nonisolated(nonsending) public func enableNetwork() async throws {
        try await setNetworkEnabled(true)
    }

    /// Connects again and calls `completion`.
    public func enableNetwork(completion: (((any Error)?) -> Void)? = nil) {
        setNetworkEnabled(true, completion)
    }

    /// Checks that the network has not been disabled, for reads that only the server can answer.
    func checkNetwork() async throws(FirestoreError) {
        guard let session = try session(), await !session.isNetworkEnabled else { return }
        throw FirestoreError(.networkDisabled)
    }

    nonisolated(nonsending) private func setNetworkEnabled(_ isEnabled: Bool) async throws {
        let session = try firestoreErrors { () throws(StatusError) in try requireSession() }
        await withCheckedContinuation { continuation in session.setNetworkEnabled(isEnabled) { continuation.resume() } }
    }

    private func setNetworkEnabled(_ isEnabled: Bool, _ completion: (((any Error)?) -> Void)?) {
        // Not in a task: the order of the calls decides what is sent.
        let completion = completion.map(UncheckedSendable.init)
        let queue = callbackQueue
        let deliver: @Sendable (FirestoreError?) -> Void = { error in queue.async { completion?.value(error) } }
        do throws(StatusError) {
            try requireSession().setNetworkEnabled(isEnabled) { deliver(nil) }
        } catch {
            deliver(FirestoreError(error))
        }
    }

    /// Adds a listener that is called once, and then whenever other listeners have been called: each of these has had all its events of
    /// what has arrived from the server.
    @discardableResult
    public func addSnapshotsInSyncListener(_ listener: @escaping () -> Void) -> any ListenerRegistration {
        let registration = SnapshotListener()
        let listener = UncheckedSendable(listener)
        let queue = callbackQueue
        let handler: @Sendable () -> Void = {
            queue.async {
                guard !registration.isRemoved else { return }
                listener.value()
            }
        }
        if let session = try? listeningSession() {
            let id = session.addSnapshotsInSyncListener(handler)
            registration.onRemoval { session.removeSnapshotsInSyncListener(id) }
        }
        return registration
    }
}
