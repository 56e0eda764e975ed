package import DocumentModel
package import Logging
package import StrictJSON

/// The documents of a data folder: a file each, and a journal of commits.
///
/// - An acknowledged commit is in the journal and synced, and its documents' files are in place.
/// - A file is always whole: it changes only by renaming a complete one over it.
/// - People may edit document files while the store is open; what they write is what is read next. Recovery keeps it too, but
///   where a commit wrote the same document since the last checkpoint, a file that was removed, damaged or put back as an older
///   version is made anew from the journal: nothing tells it from one whose change the disk had not kept.
/// - What people add to a large collection's folder is listed, and found by queries, when the index has been made anew: see
///   ``FileStoreConfiguration/listedFolderBytes``.
/// - A document whose file is damaged can't be written or deleted, except by who has seen what is in the file
///   (``SeenDamage``): whoever mends, moves or replaces it decides what is lost.
///
/// ``close()`` leaves a folder that is complete without its journal. A store that is not closed recovers when it is opened.
package final class FileStore: DocumentStore {
    let data: DataFolder
    let parts: StoreParts
    /// Reads single documents, so that these never wait for what takes long.
    let readers: WorkQueue
    /// Reads collections, the past and the journal.
    let listers: WorkQueue
    /// Looks how the store itself is, so that this is told also when all who read wait for a disk.
    let inspectors = WorkQueue(label: "hearth.inspectors", width: 1)
    let queue: CommitQueue

    private init(_ opened: OpenedStore, readers: WorkQueue, listers: WorkQueue) {
        data = opened.data
        parts = opened.parts
        self.readers = readers
        self.listers = listers
        queue = CommitQueue(
            Committer(opened),
            idleTime: opened.parts.checkpointIdleTime
        )
    }

    /// Opens a data folder, making it when it does not exist, and recovers it when it was not closed.
    ///
    /// - Throws: `.failedPrecondition` when the folder is not a Hearth data folder, in use by another server, or made by a newer
    ///   Hearth; `.dataLoss` when the journal is damaged where it is needed; `.unavailable` when it can't be read or written.
    package static func open(_ configuration: FileStoreConfiguration, logger: Logger) async throws(StatusError) -> FileStore {
        let readers = WorkQueue(label: "hearth.readers", width: configuration.readers)
        let listers = WorkQueue(label: "hearth.listers", width: configuration.readers)
        return try await readers.run { () throws(StatusError) in
            let opened = try OpenedStore(configuration, listers: listers, logger: logger)
            return FileStore(opened, readers: readers, listers: listers)
        }
    }

    /// Takes no more commits, finishes those that were taken, ends all watching, and gives the folder back complete without
    /// its journal. Reading goes on as long as the store is held.
    ///
    /// - Returns: Why the folder is not complete without its journal, or gone; nil when all is well. It is in the log too.
    @discardableResult
    package func close() async -> StatusError? {
        let failure = await queue.close()
        parts.feed.close()
        data.unlock()
        if let failure {
            parts.logger.error(
                "The store could not be closed completely",
                metadata: ["error": "\(failure)", "error.cause": "\(failure.cause.map { "\($0)" } ?? "")"]
            )
        }
        return failure
    }

    package func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        if let readTime { return try await document(at: path, asOf: readTime) }
        return try await currentDocument(at: path)
    }

    package func file(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        let files = parts.files
        return try await readers.run { () throws(StatusError) in try files.bytes(of: path) }
    }

    package func documents(
        in collection: CollectionPath,
        after: DocumentID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        let listing = DocumentListing(
            collection: collection,
            after: after,
            limit: Self.pageLimit(limit),
            includingMissing: includingMissing
        )
        if let readTime { return try await documents(listing, asOf: readTime) }
        return try await currentDocuments(listing)
    }

    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        let limit = Self.pageLimit(limit)
        if let readTime { return try await collections(under: parent, after: after, limit: limit, asOf: readTime) }
        let parts = parts
        return try await listers.run { () throws(StatusError) in
            try parts.files.collections(
                under: parent,
                after: after,
                limit: limit,
                uninstalled: parts.uninstalled.collections(under: parent)
            )
        }
    }

    package func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await versions(of: path, before: before, limit: Self.pageLimit(limit))
    }

    package func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: UTF8Key?
    ) async throws(StatusError) -> CommitResult {
        try await queue.commit(writes, validating: reads, by: author)
    }

    /// Returns when the index is complete up to the last commit, however long it takes to make.
    ///
    /// - Parameter onProgress: Called now and then, while the index is made anew, with the number of documents in it.
    package func waitUntilIndexed(onProgress: (Int) -> Void = { _ in }) async throws(StatusError) {
        try await parts.index.waitUntilReady(onProgress: onProgress)
        try await parts.index.waitUntilApplied(position.lastSequence)
    }

    package func commits(after sequence: SequenceNumber) -> CommitSequence {
        let feed = parts.feed
        return CommitSequence(after: sequence, memory: feed.commitsInMemory) { position throws(StatusError) in
            try await feed.commits(after: position)
        }
    }

    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        parts.feed.notify(after: sequence, body)
    }

    package var position: StorePosition { parts.feed.position }

    package func settledPosition() async throws(StatusError) -> StorePosition {
        try await parts.feed.settledPosition()
    }

    package var writeObstacle: StatusError? {
        get async {
            let parts = parts
            return try? await inspectors.run { () throws(StatusError) in parts.writeObstacle }
        }
    }

    /// The document at `path` as it is now.
    func currentDocument(at path: DocumentPath) async throws(StatusError) -> EncodedDocument? {
        if let image = parts.uninstalled.image(of: path) { return image }
        let files = parts.files
        if let document = files.documentInMemory(at: path) { return document }
        return try await readers.runNearby { () throws(StatusError) in try files.document(at: path) }
    }

    /// A page holds something, and no more than can be in memory.
    private static func pageLimit(_ limit: Int) -> Int {
        min(max(limit, 1), 100_000)
    }
}
