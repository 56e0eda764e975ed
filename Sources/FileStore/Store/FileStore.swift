internal import DocumentIndex
package import DocumentModel
package import DocumentStore
package import Logging
internal import QueryEngine
internal import StorageIO
internal import UTF8Text

/// A store in a data folder: one file per document, a write-ahead journal, and an index.
///
/// - An acknowledged commit is synced to the journal and applied to the document files.
/// - A file is always complete: a complete file is linked or renamed into place.
/// - Document files may be edited while the store is open; the next read returns the edited contents, with the time of the edit as
///   update time. Recovery keeps edits too, with one exception: where a commit wrote the same document since the last checkpoint,
///   recovery rewrites a file that was removed, damaged or replaced with an older version, because it is indistinguishable from
///   one whose change was lost with the disk cache.
/// - Files added to a large collection's folder are listed, and found by queries, after the index has been rebuilt; see
///   ``FileStoreConfiguration/listedFolderBytes``.
/// - A document with a damaged file can be written or deleted only with the file's contents as a precondition
///   (``DamagedFileSnapshot``), so that nothing is overwritten unseen.
///
/// After ``close()``, the folder is complete without its journal. A store that was not closed is recovered when it is opened.
package final class FileStore: ClosableStore, LocalFiles {
    let data: DataFolder
    let components: StoreComponents
    let reader: DocumentReader
    /// Runs collection scans, point-in-time reads and journal reads.
    let scanQueue: WorkQueue
    /// Runs health checks, so that these don't wait while all readers wait for the disk.
    private let healthQueue = WorkQueue(label: "hearth.health", width: 1)
    let commitQueue: CommitQueue
    private let idleMemoryRelease: IdleMemoryRelease
    /// The search for files that were edited before the store was opened; `nil` if there is none.
    let editedFileSearch: EditedFileSearch?
    /// The edits of files that become commits; `nil` if none do.
    let folderEdits: FolderEdits?

    private init(_ recovery: consuming StoreRecovery, readQueue: WorkQueue, scanQueue: WorkQueue) {
        data = recovery.data
        components = recovery.components
        reader = DocumentReader(components, readQueue: readQueue, scanQueue: scanQueue)
        self.scanQueue = scanQueue
        let committer = Committer(
            components,
            writer: recovery.writer,
            fileWriter: recovery.fileWriter,
            last: recovery.last,
            receipts: recovery.receipts
        )
        commitQueue = CommitQueue(committer, idleTime: components.checkpointIdleTime, observer: components.observer)
        idleMemoryRelease = IdleMemoryRelease(components, after: components.idleMemoryReleaseTime)
        idleMemoryRelease.start()
        folderEdits =
            if let options = recovery.folderEditOptions {
                FolderEdits(components, reader, commitQueue, options)
            } else {
                nil
            }
        editedFileSearch = folderEdits == nil ? recovery.editedFileSearch : nil
        folderEdits?.start()
        editedFileSearch?.start()
    }

    /// Opens a data folder, creating it if needed, and recovers it if it was not closed.
    ///
    /// - Throws: `.failedPrecondition` when the folder is not a Hearth data folder, in use by another server, or written by a
    ///   newer version of Hearth; `.dataLoss` when the journal is damaged where it is needed; `.unavailable` when it cannot be
    ///   read or written.
    package static func open(_ configuration: FileStoreConfiguration, logger: Logger) async throws(StatusError) -> FileStore {
        let readQueue = WorkQueue(
            label: "hearth.read",
            width: configuration.readThreadCount,
            order: .newestFirstUnderOverload,
            onStart: configuration.observer.map { $0.recordWaits(in: .read) }
        )
        let scanQueue = WorkQueue(
            label: "hearth.scan",
            width: configuration.readThreadCount,
            order: .newestFirstUnderOverload,
            onStart: configuration.observer.map { $0.recordWaits(in: .scan) }
        )
        return try await readQueue.run { () throws(StatusError) in
            let recovery = try StoreRecovery(configuration, scanQueue: scanQueue, logger: logger)
            return FileStore(recovery, readQueue: readQueue, scanQueue: scanQueue)
        }
    }

    /// Closes the store: rejects new commits, completes the accepted ones, ends all commit sequences, and makes the folder complete
    /// without its journal. Reads remain possible.
    ///
    /// - Returns: The error that left the folder incomplete without its journal, which is also logged; `nil` on success.
    @discardableResult
    package func close() async -> StatusError? {
        idleMemoryRelease.stop()
        editedFileSearch?.stop()
        await folderEdits?.stop()
        let failure = await commitQueue.close()
        components.feed.close()
        data.unlock()
        if let failure {
            components.logger.error(
                "Store not closed cleanly",
                metadata: ["error": "\(failure)", "error.cause": "\(failure.cause.map { "\($0)" } ?? "")"]
            )
        }
        return failure
    }

    /// Returns when the index includes the last commit, however long its build takes.
    ///
    /// - Parameter onProgress: Called repeatedly during a build with the number of indexed documents.
    package func waitUntilIndexed(onProgress: (Int) -> Void = { _ in }) async throws(StatusError) {
        try await components.index.waitUntilReady(onProgress: onProgress)
        try await components.index.waitUntilApplied(position.lastSequence)
    }
}

// MARK: - Reads

extension FileStore {
    package func document(at path: DocumentPath, readTime: Timestamp?) async throws(StatusError) -> EncodedDocument? {
        if let readTime { return try await reader.document(at: path, asOf: readTime) }
        return try await reader.currentDocument(at: path)
    }

    package func contents(of path: DocumentPath) async throws(StatusError) -> [UInt8]? {
        try await reader.contents(of: path)
    }

    package func documents(
        in collection: CollectionPath,
        after: DocumentPath.ID?,
        limit: Int,
        includingMissing: Bool,
        readTime: Timestamp?
    ) async throws(StatusError) -> DocumentPage {
        let listing = DocumentPageRequest(
            collection: collection,
            after: after,
            limit: Self.pageLimit(limit),
            includingMissing: includingMissing
        )
        if let readTime { return try await reader.documents(listing, asOf: readTime) }
        return try await reader.documents(listing)
    }

    package func collections(
        under parent: DocumentPath?,
        after: CollectionID?,
        limit: Int,
        readTime: Timestamp?
    ) async throws(StatusError) -> CollectionPage {
        let limit = Self.pageLimit(limit)
        if let readTime { return try await reader.collections(under: parent, after: after, limit: limit, asOf: readTime) }
        return try await reader.currentCollections(under: parent, after: after, limit: limit)
    }

    package func history(of path: DocumentPath, before: Timestamp?, limit: Int) async throws(StatusError) -> VersionPage {
        try await reader.versions(of: path, before: before, limit: Self.pageLimit(limit))
    }

    /// Clamps a page size to at least one entry and to what fits in memory.
    private static func pageLimit(_ limit: Int) -> Int {
        min(max(limit, 1), 100_000)
    }
}

// MARK: - Commits

extension FileStore {
    package func commit(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> CommitResult {
        if !writes.isEmpty || identity != nil, let error = components.standbyError { throw error }
        let disk = components.disk
        let start = ContinuousClock.now
        do throws(StatusError) {
            let (result, sync) = try await commitAfterEdits(writes, validating: reads, by: author, identity: identity)
            guard !result.isReplayed else { return result }
            components.observer?.didCommit(writeCount: writes.count, period: start..<max(start, .now), sync: sync)
            // Deletes succeed on a full disk, too.
            if disk.isFull, writes.contains(where: \.operation.storesDocument) {
                try? await healthQueue.run { () throws(StatusError) in disk.recordSuccess() }
            }
            return result
        } catch {
            components.observer?.didFailCommit(with: error, writeCount: writes.count, period: start..<max(start, .now))
            if error.isLackOfSpace { try? await healthQueue.run { () throws(StatusError) in disk.recordFailure(error) } }
            throw error.withWriteIndex(in: writes)
        }
    }

    /// Commits writes after the edits of their documents' files.
    private func commitAfterEdits(
        _ writes: [Write],
        validating reads: ReadSet,
        by author: CommitAuthor?,
        identity: CommitIdentity?
    ) async throws(StatusError) -> (CommitResult, sync: Range<ContinuousClock.Instant>?) {
        guard let folderEdits else {
            return try await commitQueue.commit(writes, validating: reads, by: author, identity: identity)
        }
        await folderEdits.take(before: writes)
        let start = ContinuousClock.now
        while true {
            do throws(StatusError) {
                return try await commitQueue.commit(writes, validating: reads, by: author, identity: identity)
            } catch {
                // The file may have been edited since, or is being written.
                guard ContinuousClock.now - start < Self.editWaitTime, !Task.isCancelled,
                    await folderEdits.take(after: error, of: writes)
                else { throw error }
                try? await Task.sleep(for: .milliseconds(2))
            }
        }
    }

    /// The time for which a commit waits for the ends of edits of its documents.
    private static let editWaitTime = Duration.seconds(5)

    package func commits(after sequence: SequenceNumber) -> CommitSequence {
        let feed = components.feed
        return CommitSequence(after: sequence, memory: feed.commitsInMemory) { position throws(StatusError) in
            try await feed.commits(after: position)
        }
    }

    package func notify(after sequence: SequenceNumber, _ body: @escaping @Sendable () -> Void) -> CommitNotification {
        components.feed.notify(after: sequence, body)
    }

    package var position: StorePosition { components.feed.position }

    package var restartCount: Int { components.feed.restartCount }

    package func safePosition() async throws(StatusError) -> StorePosition {
        try await components.feed.safePosition()
    }
}

// MARK: - Administration

extension FileStore {
    package func indexes() async -> IndexReport { components.index.report() }

    package func changeIndexes(_ change: IndexChange) async throws(StatusError) -> IndexReport {
        if let error = components.standbyError { throw error }
        let index = components.index
        return try await scanQueue.run { () throws(StatusError) in
            try index.change(change)
            return index.report()
        }
    }

    package func quota() async -> DatabaseQuota { components.quota.value }

    package func setQuota(_ quota: DatabaseQuota) async throws(StatusError) {
        let components = components
        try await scanQueue.run { () throws(StatusError) in try components.quota.replace(with: quota, in: components.data) }
    }

    package var writeBlockedReason: StatusError? {
        get async {
            let components = components
            return try? await healthQueue.run { () throws(StatusError) in
                components.disk.check()
                return components.writeBlockedReason ?? (components.disk.isFull ? DiskMonitor.fullError : nil)
            }
        }
    }

    package var localFiles: (any LocalFiles)? { self }

    /// The number of edits of files that need a person. Takes constant time.
    var problemCount: Int { components.editProblems?.count ?? 0 }

    package func problems(limit: Int) async throws(StatusError) -> FileProblemReport {
        guard let problems = components.editProblems else { return FileProblemReport() }
        let files = components.files
        return try await scanQueue.run { () throws(StatusError) in try problems.report(limit: limit, in: files) }
    }

    package func acceptRemovedFiles() async throws(StatusError) {
        if let error = components.standbyError { throw error }
        guard let folderEdits else {
            throw StatusError(
                .failedPrecondition,
                "Edits of files do not become commits: the server was started with --no-folder-edits."
            )
        }
        folderEdits.acceptRemovedFiles()
    }

    package func storage() async -> StorageReport? {
        let components = components
        let problemCount = problemCount
        // Does not wait for the last commits, so that the report is available under load. Not a use, so that a monitor that asks for
        // it regularly does not keep the caches of an idle store.
        let size =
            !components.index.isReady
            ? nil
            : try? await components.index.read(atLeast: .zero, isUse: false) { snapshot throws(StatusError) in
                try snapshot.size(of: nil)
            }
        return try? await healthQueue.run { () throws(StatusError) in
            let disk = components.disk.check()
            var report = StorageReport(
                journalBytes: components.checkpointer.journalBytes,
                maximumJournalBytes: components.checkpointer.maximumJournalBytes,
                space: disk.space,
                inodes: disk.inodes,
                unappliedCount: components.unapplied.stuckCount,
                size: size
            )
            report.indexedSequence = components.index.appliedSequence
            report.damagedCount = components.unreadable.count
            report.fileProblemCount = problemCount
            return report
        }
    }
}

extension StoreObserver {
    /// Returns a function that records the waits in a queue.
    func recordWaits(in queue: StoreQueue) -> @Sendable (_ nanoseconds: UInt64) -> Void {
        { didWait(in: queue, nanoseconds: $0) }
    }
}

extension StatusError {
    /// Returns the error with the index of the write to its document, if it has none: files are written and checked once for all
    /// writes of a commit to a document.
    fileprivate func withWriteIndex(in writes: [Write]) -> StatusError {
        guard writeIndex == nil, let path, let index = writes.lastIndex(where: { UTF8Key($0.path.string) == UTF8Key(path) })
        else {
            return self
        }
        return withWriteIndex(index)
    }
}
