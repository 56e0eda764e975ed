package import DocumentModel

/// An effect that the caller of the engine has to carry out, in the order in which an input returned them.
package enum SyncEffect: Sendable {
    /// A listener is called with a snapshot.
    case raise(ListenerID, ViewSnapshot)
    /// A listener is called with an error. It gets no more events.
    case fail(ListenerID, StatusError)
    /// The listeners are called that wait until all snapshots are in sync: once, after the other effects of an input.
    case raiseSnapshotsInSync([ListenerID])
    /// A target is added to the stream, or added anew. After a failed attempt the caller pauses before the next.
    case openTarget(TargetRequest)
    /// A target is removed from the stream.
    case closeTarget(TargetID)
    /// Documents in limbo are read from the server. The answer is a remote event with ``RemoteEvent/answeredReads``; documents that
    /// may not be read are ``RemoteEvent/inaccessible``. After another error the caller reads them again.
    case readDocuments([DocumentPath])
    /// A batch is sent, after those that were sent before.
    case send(MutationBatch, as: BatchIdentity)
    /// The batches under way are abandoned: their answers no longer count, since they are sent again later.
    case stopSending
    /// A write ends: without an error if it was acknowledged. If it was rejected, the cache keeps the batch until the caller has been told,
    /// who might never be.
    case complete(WriteID, StatusError?, RejectedBatch? = nil)
    /// The application is told of a rejected batch that nobody waits for. The cache keeps it until the application has seen it.
    case reportRejection(RejectedBatch)
    /// A wait for pending writes ends, with an error if it was cancelled.
    case endWait(WaitID, StatusError?)
    /// The timer starts after whose end the client counts as offline: ten seconds in Firestore's clients.
    case startOnlineStateTimer
    /// That timer stops.
    case stopOnlineStateTimer
    /// The next batches could not be read from the cache. All unanswered ones are sent again after a pause, by
    /// ``SyncEngine/resendBatches()``.
    case resendBatchesLater
    /// An error of the cache is logged that costs nothing but time: of a refill or a mark that the engine can do without.
    case reportCacheError(StatusError)
}

/// A target to add to the stream.
package struct TargetRequest: Sendable {
    /// The ID.
    package let id: TargetID
    /// The target.
    package let target: SyncTarget
    /// The token to resume from; `nil` for none.
    package let token: String?
    /// The time of the known result, to resume from without a token: that of a bundle. `nil` to begin with the complete result.
    package let time: Timestamp?
    /// The number of documents in the result of that time; `nil` if it is not known.
    package let count: Int?

    package init(id: TargetID, target: SyncTarget, token: String?, time: Timestamp? = nil, count: Int? = nil) {
        self.id = id
        self.target = target
        self.token = token
        self.time = time
        self.count = count
    }
}

/// A listener, as the caller numbers it.
package typealias ListenerID = UInt64

/// A write, as the caller numbers it.
package typealias WriteID = UInt64

/// A wait for pending writes, as the caller numbers it.
package typealias WaitID = UInt64
