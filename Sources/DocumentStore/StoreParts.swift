internal import DocumentModel
internal import Logging

/// What the parts of an open store share.
struct StoreParts: Sendable {
    let data: DataFolder
    let files: DocumentFiles
    let cache: DocumentCache
    let uninstalled: UninstalledDocuments
    let feed: ChangeFeed
    let history: History
    let index: DocumentIndex
    let checkpointer: Checkpointer
    let failure: StoreFailure
    let clock: CommitClock
    let checkpointBytes: Int
    let checkpointIdleTime: Duration
    let listedFolderBytes: Int
    let logger: Logger
}

extension StoreParts {
    /// Why the store takes no writes now; nil when it does.
    var writeObstacle: StatusError? {
        permanentObstacle ?? uninstalled.obstacle
    }

    /// Why the store takes no writes, where trying again is of no use.
    var permanentObstacle: StatusError? {
        if let error = failure.error { return error }
        do throws(StatusError) {
            try data.checkPresence()
            return nil
        } catch {
            return error
        }
    }
}
