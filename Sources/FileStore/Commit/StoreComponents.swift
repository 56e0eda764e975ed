internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging

/// The components of an open store.
struct StoreComponents: Sendable {
    let data: DataFolder
    let files: DocumentFiles
    let cache: DocumentCache
    let unapplied: UnappliedDocuments
    let unreadable = UnreadableDocuments()
    /// The edits of files that have not become commits; `nil` if none do.
    let editProblems: EditProblems?
    let feed: ChangeFeed
    let history: HistoryIndex
    let index: DocumentIndex
    let checkpointer: Checkpointer
    let disk: DiskMonitor
    let quota: StoredQuota
    let writeLatch: WriteLatch
    let timestamps: TimestampOracle
    /// The name of the primary that the store follows; `nil` for one that accepts writes.
    let primary: String?
    let checkpointBytes: Int
    let checkpointDocuments: Int
    let checkpointIdleTime: Duration
    let idleMemoryReleaseTime: Duration
    let listedFolderBytes: Int
    /// Receives statistics of commits; `nil` if nothing does.
    let observer: (any StoreObserver)?
    let logger: Logger
}

extension StoreComponents {
    /// The error of writes on a standby; `nil` on a primary.
    var standbyError: StatusError? {
        primary.map { StatusError.standby(of: $0) }
    }

    /// The error for subsequent writes; `nil` while the store accepts writes.
    var writeBlockedReason: StatusError? {
        permanentWriteBlockedReason ?? unapplied.writeBlockedError
    }

    /// The error for subsequent writes if retrying would not help; `nil` otherwise.
    var permanentWriteBlockedReason: StatusError? {
        if let error = writeLatch.error { return error }
        do throws(StatusError) {
            try data.checkPresence()
            return nil
        } catch {
            return error
        }
    }
}
