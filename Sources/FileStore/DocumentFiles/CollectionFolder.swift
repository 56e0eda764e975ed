internal import Logging
internal import StorageIO

/// An open folder of a collection, for the reads of one operation.
///
/// After the first reads, it asks which of the folder's files may have changed, so that the status of those that have not need not
/// be read. Used on one thread.
final class CollectionFolder {
    let descriptor: FileDescriptor
    private let watch: DocumentFolderWatch?
    private var readCount = 0
    private var changes: FolderChanges?

    init(_ descriptor: consuming FileDescriptor, _ watch: DocumentFolderWatch?) {
        self.descriptor = descriptor
        self.watch = watch
    }

    /// Counts a read of a file, and returns the changes to the folder; `nil` if the file's status must be read.
    ///
    /// They include all that were complete before the operation began.
    func changesForNextRead() -> FolderChanges? {
        readCount += 1
        // Asking costs about as much as reading a status.
        let isDue = readCount % Self.validReadCount == 2
        let isWorthWatching = readCount >= Self.watchedReadCount
        if isDue || readCount == Self.watchedReadCount && changes == nil {
            changes = watch?.changes(in: descriptor, starting: isWorthWatching)
        }
        return changes
    }

    /// The read at which it is worth to start to watch the folder.
    private static let watchedReadCount = 4
    /// The number of reads after which a long operation asks for the changes again.
    private static let validReadCount = 500
}

/// The changes to the folders of collections, and the log of limits that prevent them from being watched.
struct DocumentFolderWatch: Sendable {
    let watcher: FolderWatcher
    let logger: Logger

    /// Returns the changes in an open folder that were complete before the call; `nil` if it is not watched.
    ///
    /// - Parameter starting: True to start to watch it.
    func changes(in folder: borrowing FileDescriptor, starting: Bool) -> FolderChanges? {
        watcher.changes(in: folder, starting: starting) { error in
            let advice = error.isResourceLimit ? ". Raise fs.inotify.max_user_watches or fs.inotify.max_user_instances" : ""
            logger.notice(
                """
                The system does not permit to watch the folders of documents; lists and queries take longer, since they get the \
                status of each document\(advice)
                """,
                metadata: ["error": "\(error)"]
            )
        }
    }
}
