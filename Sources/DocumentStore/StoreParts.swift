internal import DocumentModel
internal import Logging

/// What the parts of an open store share.
struct StoreParts: Sendable {
    let files: DocumentFiles
    let cache: DocumentCache
    let uninstalled: UninstalledDocuments
    let feed: ChangeFeed
    let checkpointer: Checkpointer
    let failure: StoreFailure
    let now: @Sendable () -> Timestamp
    let checkpointBytes: Int
    let logger: Logger
}
