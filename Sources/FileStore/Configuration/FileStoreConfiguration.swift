package import DocumentModel
package import DocumentStore
package import StorageIO

/// Returns the decision about edits of document files by a user of the system.
///
/// - Parameters:
///   - database: The database; `nil` for the default one.
///   - user: The owner of the files; `nil` if the system does not know a name.
/// - Throws: An error for a decision that is not available yet, after which it is asked for again.
package typealias FolderEditAuthorization =
    @Sendable (_ database: DatabaseID?, _ user: String?) async throws(StatusError) -> any CommitAuthorization

/// The configuration of a ``FileStore``; the defaults suit a server's only database.
package struct FileStoreConfiguration: Sendable {
    /// The data folder's path; the folder is created if needed.
    package var folder: String
    /// The identity that the folder must have, or gets when it is created; `nil` for a default database, with a new epoch.
    package var identity: DatabaseIdentity?
    /// The retention period for commits, for watchers and history.
    package var retentionAge: Duration = .seconds(24 * 60 * 60)
    /// The journal's maximum size, including the commits retained for watchers and history and those needed for recovery.
    ///
    /// The effective maximum is never less than twice ``checkpointBytes`` plus one segment.
    package var retentionBytes = 256 << 20
    /// The preallocated size of a journal segment, unless the disk is nearly full.
    package var segmentBytes = 16 << 20
    /// The number of journal bytes after which a checkpoint syncs the document files.
    package var checkpointBytes = 32 << 20
    /// The number of changed documents after which a checkpoint syncs the document files. It bounds the time of a recovery, which
    /// restores up to twice as many documents, and those of one commit.
    package var checkpointDocuments = 20_000
    /// The time without a commit after which a checkpoint is made. Recovery does not undo file edits made after a checkpoint.
    package var checkpointIdleTime: Duration = .seconds(10)
    /// The time between two log entries about the progress of a recovery.
    package var recoveryProgressInterval: Duration = .seconds(5)
    /// The memory for recent commits, from which watchers read.
    package var recentBytes = 8 << 20
    /// The memory for the document cache.
    package var cacheBytes = 64 << 20
    /// The watcher of the folders whose documents are cached. Additional databases share it, because the system limits the number
    /// of watchers.
    package var folderWatcher = FolderWatcher()
    /// The memory for indexes of older journal segments, used by point-in-time reads. The commits that such reads have read last take up
    /// to a quarter of it in addition.
    package var historyBytes = 64 << 20
    /// The memory for the index writer; a rebuild uses twice that, and each reader a sixth of it.
    package var indexCacheBytes = 48 << 20
    /// The largest collection folder, by its size in the file system, that is listed for a page of documents. Pages of larger
    /// collections come from the index, at a cost independent of the collection's size.
    package var listedFolderBytes = 256 << 10
    /// The time after which a query that waits for the index fails.
    package var indexWaitTimeout: Duration = .seconds(10)
    /// The number of documents up to which a query waits for a rebuild of the index, which then takes less than a second. With more
    /// documents, the query fails immediately, with the progress.
    package var indexWaitDocumentCount = 5_000
    /// Called before each batch of documents that a rebuild of the index reads. Blocking it holds the rebuild.
    package var willScanForIndex: @Sendable () -> Void = {}
    /// The time without sufficient disk space after which the index deletes its file, to be rebuilt in less space.
    package var indexLowDiskSpaceTimeout: Duration = .seconds(60)
    /// The time without a read or write after which the memory of the caches is given back.
    package var idleMemoryReleaseTime: Duration = .seconds(60)
    /// True to search, after the store was opened, for files that were edited while it was closed, and to log their number.
    package var searchesForEditedFiles = true
    /// True to make commits of the edits of files by other programs, while the store is open and since it was closed; see
    /// ``FolderEdits``. In a store with a ``primary``, edits are undone.
    package var takesFolderEdits = false
    /// The time for which an edited file must be left alone before it becomes a commit.
    package var folderEditQuietTime: Duration = .milliseconds(200)
    /// The number of files removed at once up to which these are deletions.
    package var maximumFolderDeletions = 1_000
    /// True to leave the texts of edited files as they are until the next commits of their documents or the close of the store, at most
    /// 1,000 of them, instead of writing them in the store's form.
    package var keepsFolderEditTexts = false
    /// Returns the decision about edits of files by a user of the system; `nil` to permit all.
    package var folderEditAuthorization: FolderEditAuthorization?
    /// True to rebuild the index when the store is opened.
    package var rebuildsIndex = false
    /// The number of threads for single-document reads, and the number of threads for scans and journal reads.
    package var readThreadCount = 4
    /// The name of the server whose commits the store applies, which makes it reject all others; `nil` for a store that accepts writes.
    package var primary: String?
    /// Receives statistics of commits, those of additional databases too; `nil` if nothing does.
    package var observer: (any StoreObserver)?
    /// The clock.
    package var now: @Sendable () -> Timestamp = Timestamp.current

    /// The journal size that a checkpoint leaves. The rest of ``retentionBytes`` holds what is written until the next checkpoint
    /// ends, that is, before and during it, and the preallocated part of a segment.
    var retainedBytes: Int { max(0, retentionBytes - 2 * checkpointBytes - segmentBytes) }

    /// The disk space that is reserved for deletions and the manifest, on a full disk. A single deletion takes at most as much as
    /// the document's JSON.
    var reservedBytes: Int { min(4 << 20, segmentBytes / 4) }

    /// Creates a configuration with the defaults.
    package init(folder: String) {
        self.folder = folder
    }
}

extension FileStoreConfiguration {
    /// The same configuration for one of many additional databases, with a fraction of the memory and journal size.
    package var forAdditionalDatabase: FileStoreConfiguration {
        var small = self
        small.segmentBytes = 1 << 20
        small.checkpointBytes = min(checkpointBytes, 4 << 20)
        small.checkpointDocuments = min(checkpointDocuments, 5_000)
        small.retentionBytes = min(retentionBytes, 32 << 20)
        small.recentBytes = 512 << 10
        small.cacheBytes = 2 << 20
        small.historyBytes = 4 << 20
        small.indexCacheBytes = 3 << 20
        small.readThreadCount = 2
        return small
    }
}
