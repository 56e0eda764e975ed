internal import DocumentModel
internal import SyncEngine
internal import Synchronization
internal import UTF8Text

/// The offline mode of a database: what its API needs of a sync engine with streams, commits and reads.
///
/// Calls take effect in the order in which they are made, on any thread. Handlers are called on a queue of the session, which they must
/// not block.
protocol SyncSession: AnyObject, Sendable {
    /// Queues the writes of one call.
    ///
    /// - Parameters:
    ///   - user: The user whose writes they are; `nil` for the current one.
    ///   - queued: Called when the writes are in the queue and survive a crash, or with the error that prevents it.
    ///   - completed: Called with the server's answer, or with the error that prevents queueing; `nil` if nobody waits for it.
    /// - Returns: The ID of the call.
    @discardableResult
    func write(
        _ writes: [Write],
        for user: UserID?,
        queued: (@Sendable (StatusError?) -> Void)?,
        completed: WriteCompletion?
    ) -> WriteID

    /// Forgets the completion of a call: nobody waits for it any longer. If it has been rejected or will be, the application is told.
    func abandonWrite(_ id: WriteID)

    /// Adds a listener, whose handler is called until it is removed, or with an error, which is the last call.
    ///
    /// - Parameter ended: Called when the session ends.
    func listen(
        to query: ViewQuery,
        _ options: ListenOptions,
        ended: @escaping @Sendable () -> Void,
        _ handler: @escaping @Sendable (Result<SyncSnapshot, StatusError>) -> Void
    ) -> ListenerID

    /// Removes a listener.
    func removeListener(_ id: ListenerID)

    /// Adds a handler that is called when no listener has more events of what has arrived.
    func addSnapshotsInSyncListener(_ handler: @escaping @Sendable () -> Void) -> ListenerID

    /// Removes such a handler.
    func removeSnapshotsInSyncListener(_ id: ListenerID)

    /// Calls `completion` when the batches that are queued now have been answered.
    func waitForPendingWrites(_ completion: @escaping @Sendable (StatusError?) -> Void)

    /// Reads a document.
    func document(at path: DocumentPath, from source: FirestoreSource) async throws(StatusError) -> DocumentRead

    /// Runs a query.
    func result(
        of query: StructuredQuery,
        _ normalized: NormalizedQuery,
        from source: FirestoreSource
    ) async throws(StatusError) -> SyncSnapshot

    /// Returns whether a bundle with the ID that is not older has been loaded, and is still in the cache.
    func hasLoaded(_ metadata: BundleMetadata) async throws(StatusError) -> Bool

    /// Stores a bundle, all of it or nothing.
    func load(_ bundle: DocumentBundle) async throws(StatusError)

    /// Returns a query that a bundle has brought; `nil` if there is none with the name.
    func namedQuery(_ name: UTF8Key) async throws(StatusError) -> NamedQuery?

    /// Sets whether queries of the cache that read many documents get indexes.
    func setIndexAutoCreation(_ isEnabled: Bool)

    /// Removes all indexes of the cache.
    func removeIndexes()

    /// True if the queue survives the process.
    var isPersistent: Bool { get async }

    /// True unless the network has been disabled.
    var isNetworkEnabled: Bool { get async }

    /// Ends all streams and sends until the network is enabled again. Calls `completion` when it has taken effect.
    func setNetworkEnabled(_ isEnabled: Bool, _ completion: @escaping @Sendable () -> Void)

    /// Makes another user the current one, after the credential of the connection has changed.
    func changeUser(to user: UserID)

    /// The state of the queue.
    func queueStatus() async throws(StatusError) -> WriteQueueStatus

    /// Calls `handler` for each batch that was rejected while nobody waited for it, those of earlier runs first, until the handler is
    /// removed. A batch is repeated after a restart until ``removeRejectedBatch(_:of:)`` is called.
    func addRejectionHandler(_ handler: RejectionHandler) -> ListenerID

    /// Removes such a handler.
    func removeRejectionHandler(_ id: ListenerID)

    /// Forgets a rejected batch of a user.
    func removeRejectedBatch(_ number: BatchNumber, of user: UserID)

    /// Queues a rejected batch of a user again, and forgets it, unless it has been forgotten.
    ///
    /// - Parameter queued: Called when the writes are in the queue, or with the error that prevents it.
    func resendRejectedBatch(_ number: BatchNumber, of user: UserID, queued: @escaping @Sendable (StatusError?) -> Void)

    /// Calls `handler` when the queue is empty and the application has seen all rejected batches, or when the session ends.
    func whenDrained(_ handler: @escaping @Sendable () -> Void)

    /// Ends listeners, streams and sends. The queue stays in a persistent cache.
    func terminate() async
}

/// The completion of a write.
struct WriteCompletion: Sendable {
    /// True if it is called when the session ends, for a caller that waits. Otherwise it is then not called at all.
    let endsWithSession: Bool
    /// Called with an error if there is one, and with a closure that it calls when the caller has been told.
    let handler: @Sendable (StatusError?, @escaping @Sendable () -> Void) -> Void
}

/// The end of several waits as one, with the first error of them.
final class CommonWait: Sendable {
    private let state: Mutex<(count: Int, error: StatusError?)>
    private let completion: @Sendable (StatusError?) -> Void

    /// - Parameter count: The number of waits.
    init(count: Int, _ completion: @escaping @Sendable (StatusError?) -> Void) {
        state = Mutex((count, nil))
        self.completion = completion
    }

    /// Records the end of one of the waits.
    func end(_ error: StatusError?) {
        let (isLast, error) = state.withLock { state in
            state.count -= 1
            state.error = state.error ?? error
            return (state.count == 0, state.error)
        }
        if isLast { completion(error) }
    }
}

/// A handler of rejected writes.
struct RejectionHandler: Sendable {
    /// Called with a batch, its user and the session whose queue it was in.
    let receive: @Sendable (RejectedBatch, UserID, any SyncSession) -> Void
    /// Called when the session ends.
    let end: @Sendable () -> Void
}

/// A snapshot of a view, with the documents that the server cannot read.
struct SyncSnapshot: Sendable {
    let view: ViewSnapshot
    /// The errors of the documents, in order of their paths.
    let damaged: [StatusError]
}

/// A document as the client sees it.
struct DocumentRead: Sendable {
    /// The document; `nil` if it does not exist.
    let document: LocalDocument?
    /// True if it is that of the cache.
    let isFromCache: Bool
}
