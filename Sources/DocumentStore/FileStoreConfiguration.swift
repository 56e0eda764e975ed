package import DocumentModel

/// How a ``FileStore`` works; the defaults suit a server.
package struct FileStoreConfiguration: Sendable {
    /// The data folder's path; the folder is made when it doesn't exist.
    package var folder: String
    /// Which database it is, and becomes when the folder is made; nil for a default one, which has a history of its own each time
    /// that one is made.
    package var identity: DatabaseIdentity?
    /// How long commits stay readable for watchers and history.
    package var retentionAge: Duration = .seconds(24 * 60 * 60)
    /// How many bytes of journal there are at most: what is kept for watchers and history, and what recovery needs.
    ///
    /// Twice ``checkpointBytes`` and a segment are needed in any case.
    package var retentionBytes = 256 << 20
    /// The size to which a journal segment is preallocated, where the disk is not nearly full.
    package var segmentBytes = 16 << 20
    /// After how many bytes of journal the document files are synced in bulk.
    package var checkpointBytes = 32 << 20
    /// After how long without a commit the same is done. What people do to files later than that is not undone by a recovery.
    package var checkpointIdleTime: Duration = .seconds(10)
    /// How many bytes of recent commits are held in memory for watchers.
    package var recentBytes = 8 << 20
    /// How many bytes of documents are held in memory for readers.
    package var cacheBytes = 64 << 20
    /// How many bytes of memory the indexes of past journal take, which reads at a time need.
    package var historyBytes = 64 << 20
    /// How many bytes of memory the index may use to be written, and twice that to be made; each reader has a sixth of it.
    package var indexCacheBytes = 48 << 20
    /// How large a collection's folder may be, as the file system says, to be listed for a page of its documents. Pages of larger
    /// ones are taken from the index, at a cost that does not grow with the collection.
    package var listedFolderBytes = 256 << 10
    /// How long a query waits for an index that is being made, before it is told how far that is.
    package var indexPatience: Duration = .seconds(10)
    /// How long the index may lack room on the disk before it gives up its own, to be made anew where that takes less.
    package var indexSpacePatience: Duration = .seconds(60)
    /// Whether the index is made anew when the store is opened.
    package var remakesIndex = false
    /// How many threads read single documents at the same time, and how many collections and the journal.
    package var readers = 4
    /// The clock.
    package var now: @Sendable () -> Timestamp = Timestamp.current

    /// How many bytes of journal a checkpoint leaves, so that there is room for what is written until the end of the next one:
    /// before that begins, while it goes on, and the part of a segment that is preallocated.
    var keptBytes: Int { max(0, retentionBytes - 2 * checkpointBytes - segmentBytes) }

    /// Makes a configuration with the defaults.
    package init(folder: String) {
        self.folder = folder
    }
}

extension FileStoreConfiguration {
    /// The same for one of many databases, whose memory and journal are a small part of what the default one has.
    package var forOneOfMany: FileStoreConfiguration {
        var small = self
        small.segmentBytes = 1 << 20
        small.checkpointBytes = min(checkpointBytes, 4 << 20)
        small.retentionBytes = min(retentionBytes, 32 << 20)
        small.recentBytes = 512 << 10
        small.cacheBytes = 2 << 20
        small.historyBytes = 4 << 20
        small.indexCacheBytes = 3 << 20
        small.readers = 2
        return small
    }
}
