internal import DocumentModel
internal import SyncEngine

extension SyncClient {
    /// The opening and closing of a cache, which may wait for a disk.
    struct Storage: Sendable {
        /// Opens the cache. It must not fail: without its files, it is in memory.
        let open: @Sendable () -> Opened
        let close: @Sendable (Cache) -> Void
        /// Opens a cache again whose files are damaged or gone, after closing it; returns `nil` if they are sound. After an error, it can be
        /// called again.
        var reopen: @Sendable (Cache) throws(StatusError) -> Reopened? = { _ in nil }
        /// Returns the sessions of queues that other processes have left. They end when these are empty.
        var abandonedQueues: @Sendable () -> [any SyncSession] = { [] }

        /// A cache that was opened.
        struct Opened {
            let cache: Cache
            /// True if the queue survives the process.
            var isPersistent = false
            /// The error that has prevented the use of files, or the damage in them; `nil` if there was none.
            var problem: StatusError?
        }

        /// A cache that was opened again.
        struct Reopened {
            let cache: Cache
            /// True if it has all queued batches, under their numbers.
            let keepsNumbers: Bool
            /// The damage in the files; `nil` if there was none.
            var problem: StatusError?
        }
    }
}
