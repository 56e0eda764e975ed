internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO

/// The recovery of a data folder: opens and locks it, replays the journal after the last checkpoint, and creates the store's
/// components.
struct StoreRecovery: ~Copyable {
    let data: DataFolder
    let components: StoreComponents
    let writer: JournalWriter
    let fileWriter: DocumentFileWriter
    /// The last commit, and the latest assigned commit time.
    let last: (sequence: SequenceNumber, time: Timestamp?)
    /// The receipts of all commits.
    let receipts: CommitReceipts
    /// The search for files that were edited before the store was opened; `nil` if that cannot be told, as in a copy of a data
    /// folder.
    let editedFileSearch: EditedFileSearch?
    /// The options for taking edits of files; `nil` if they are not taken.
    let folderEditOptions: FolderEdits.Options?
}

extension StoreRecovery {
    /// Recovers a data folder; the recovered documents are durable when this returns.
    init(_ configuration: FileStoreConfiguration, scanQueue: WorkQueue, logger: Logger) throws(StatusError) {
        let data = try DataFolder.open(
            configuration.folder,
            as: configuration.identity ?? DatabaseIdentity(),
            reservedBytes: configuration.reservedBytes
        )
        let manifest = data.manifest
        // The clock of the file system may be a little late.
        let openTime = Timestamp.current().microseconds - 1_000_000
        let isSameBoot = manifest.openIndex.map(DocumentIndex.isOfThisBoot) ?? false
        let stopTime = (try? data.root.status(of: DataFolder.manifestName))?.identity.modifiedMicroseconds
        let cache = DocumentCache(maximumBytes: configuration.cacheBytes)
        let undatedFiles = DocumentFiles(DocumentFolders(data), cache: cache, log: ApplyLog())
        var sweep = TemporaryFileSweep()
        if !manifest.isClean || manifest.hasTemporaryFile { try sweep.run(in: data.documents, DataFolder.documentsName) }
        let quarantine = QuarantinedDocuments(data)
        var receipts = StoredReceipts(CommitReceipts(), through: .zero)
        var receiptDamage: StatusError?
        do throws(StatusError) {
            receipts = try StoredReceipts.read(in: data)
        } catch {
            guard error.code == .dataLoss else { throw error }
            receiptDamage = error
        }
        let storedReceipts = receipts.storedSequence
        var replay = JournalReplay(
            manifest.isClean ? [] : try quarantine.read(),
            replicatedThrough: configuration.primary == nil ? manifest.lineage.last?.lastSequence ?? .zero : SequenceNumber(.max)
        )
        try Journal.relabelSegments(in: data.openJournal(), of: manifest.lineage, as: manifest.epoch)
        let recovered = try Journal.open(
            data.openJournal(),
            Journal.RecoveryOptions(
                epoch: manifest.epoch,
                checkpoint: manifest.sequence,
                isClean: manifest.isClean,
                segmentBytes: configuration.segmentBytes
            )
        ) { commit in
            replay.add(commit)
            receipts.record(commit)
        }
        // In a copy, other files have later times, too.
        let isSameFolder =
            manifest.datedFiles == manifest.datedFiles(in: data.documentsInode, manifestTime: stopTime, last: nil)
        let lateEdits =
            configuration.takesFolderEdits && isSameFolder
            ? LateEditEvidence(isSameBoot: isSameBoot, now: .current()) : nil
        // After the clock was set back, edits may have any time.
        let startTime =
            if isSameFolder, let stopTime {
                stopTime - 1_000_000 > openTime ? 0 : min(stopTime - UncommittedEdits.margin, manifest.editsSince ?? .max)
            } else {
                openTime
            }
        let uncommittedEdits = configuration.takesFolderEdits ? UncommittedEdits(since: startTime) : nil
        if let uncommittedEdits { data.follow(uncommittedEdits) }
        try replay.run(in: data, progressInterval: configuration.recoveryProgressInterval, logger: logger) {
            DocumentFileWriter(undatedFiles, cache: cache, lateEdits: lateEdits)
        }
        data.reserve?.replenish()

        var last: (sequence: SequenceNumber, time: Timestamp?) = (manifest.sequence, manifest.commitTime)
        // A journal with a damaged end may contain less than the manifest states.
        if let inJournal = recovered.last, inJournal.sequence >= last.sequence { last = (inJournal.sequence, inJournal.time) }
        receiptDamage = receiptDamage ?? StoredReceipts.mismatch(of: storedReceipts, with: manifest, last: last.sequence)
        if let receiptDamage {
            receipts = try StoredReceipts.rebuild(
                in: data,
                after: receiptDamage,
                recovered.journal,
                through: last.sequence,
                logger: logger
            )
        }
        // Commits without changes have used later times, and are not in the journal.
        let latestTime = [last.time, manifest.commitTime].compactMap(\.self).max()
        let datedFiles = manifest.datedFiles(in: data.documentsInode, manifestTime: stopTime, last: latestTime)
        // Without a file system that keeps given times, no file is taken for edited.
        let keepsTimes = stopTime.map { DataFolder.setManifestTime($0, in: data.root) } ?? false
        data.prepareUpdate { $0.datedFiles = keepsTimes ? datedFiles : nil }
        let files = DocumentFiles(
            undatedFiles.folders,
            cache: cache,
            log: undatedFiles.log,
            watch: DocumentFolderWatch(watcher: configuration.folderWatcher, logger: logger),
            datedAfter: keepsTimes ? datedFiles.after : nil
        )
        let editProblems = configuration.takesFolderEdits ? EditProblems(logger: logger) : nil
        editProblems?.removedFileCount = manifest.removedFileCount
        let fileWriter = DocumentFileWriter(
            files,
            cache: cache,
            edits: editProblems,
            lateEdits: lateEdits,
            hasLeftoverTemporaryFile: sweep.failure != nil || replay.hasLeftoverTemporaryFile
        )
        let unapplied = UnappliedDocuments()
        for (path, state, _) in replay.unwritable { unapplied.quarantine(path, state) }
        if !manifest.isClean {
            var updated = manifest
            updated.epoch = recovered.journal.epoch
            if updated.epoch != manifest.epoch { updated.lineage = [] }
            updated.sequence = last.sequence
            updated.commitTime = latestTime
            updated.isClean = unapplied.isEmpty
            updated.receiptsSequence = receipts.storedSequence
            updated.hasTemporaryFile = fileWriter.hasLeftoverTemporaryFile
            if replay.isLong { logger.info("Syncing the restored documents") }
            try Self.makeDurable(data, updated, receipts, unapplied, quarantine, logger: logger)
        }
        let foreign = try files.folders.collections(under: []).damaged
        Self.log(
            manifest: manifest,
            recovered,
            replay,
            sweep,
            foreign: foreign,
            lastSequence: last.sequence,
            to: logger
        )

        components = Self.components(
            data: data,
            files: files,
            cache: cache,
            unapplied: unapplied,
            editProblems: editProblems,
            quarantine: quarantine,
            recovered: recovered,
            last: last,
            configuration: configuration,
            scanQueue: scanQueue,
            logger: logger
        )
        self.data = data
        self.last = (last.sequence, latestTime)
        self.receipts = receipts.receipts
        writer = recovered.makeWriter()
        self.fileWriter = fileWriter
        editedFileSearch =
            if let stopTime, configuration.searchesForEditedFiles, datedFiles == manifest.datedFiles {
                EditedFileSearch(data, since: stopTime, logger: logger)
            } else {
                nil
            }
        folderEditOptions =
            if let editProblems, let uncommittedEdits {
                FolderEdits.Options(
                    problems: editProblems,
                    quietTime: configuration.folderEditQuietTime,
                    maximumDeletions: configuration.maximumFolderDeletions,
                    authorization: configuration.folderEditAuthorization,
                    keepsTexts: configuration.keepsFolderEditTexts,
                    startTime: startTime,
                    uncommitted: uncommittedEdits
                )
            } else {
                nil
            }
        components.index.start()
    }

    /// Syncs the recovered files and records them in the manifest.
    private static func makeDurable(
        _ data: DataFolder,
        _ updated: DataFolderManifest,
        _ receipts: StoredReceipts,
        _ unapplied: UnappliedDocuments,
        _ quarantine: QuarantinedDocuments,
        logger: Logger
    ) throws(StatusError) {
        let epoch = data.manifest.epoch
        try reporting("sync", DataFolder.documentsName) { () throws(FileSystemError) in try data.documents.synchronizeFileSystem()
        }
        do throws(StatusError) {
            // Before the manifest, as a checkpoint does.
            try receipts.write(in: data)
            try quarantine.record(unapplied.quarantined) { manifest in
                manifest.epoch = updated.epoch
                manifest.lineage = updated.lineage
                manifest.sequence = updated.sequence
                manifest.commitTime = updated.commitTime
                manifest.isClean = updated.isClean
                manifest.hasTemporaryFile = updated.hasTemporaryFile
                manifest.receiptsSequence = updated.receiptsSequence
            }
        } catch {
            // The journal still contains everything, and freeing space may require reading the documents first.
            guard error.code == .resourceExhausted, updated.epoch == epoch else { throw error }
            logger.warning("Not enough disk space to record the recovery", metadata: ["error": "\(error)"])
        }
    }

    private static func components(
        data: DataFolder,
        files: DocumentFiles,
        cache: DocumentCache,
        unapplied: UnappliedDocuments,
        editProblems: EditProblems?,
        quarantine: QuarantinedDocuments,
        recovered: borrowing RecoveredJournal,
        last: (sequence: SequenceNumber, time: Timestamp?),
        configuration: FileStoreConfiguration,
        scanQueue: WorkQueue,
        logger: Logger
    ) -> StoreComponents {
        let journal = recovered.journal
        let writeLatch = WriteLatch()
        let disk = DiskMonitor(data, logger: logger)
        disk.check()
        let feed = ChangeFeed(
            last: last.sequence,
            lastTime: last.time,
            database: data.manifest.database,
            epoch: journal.epoch.description,
            lineage: data.manifest.lineage,
            isReplicated: configuration.primary != nil,
            maximumBytes: configuration.recentBytes,
            stored: ChangeFeed.StoredCommits {
                journal.oldest
            } read: { sequence, last throws(StatusError) in
                try await scanQueue.run { () throws(StatusError) in try journal.commits(after: sequence, through: last) }
            }
        )
        // A standby knows the state as of its last commit only: the next one of the primary may have any later time.
        let now: @Sendable () -> Timestamp
        if configuration.primary == nil {
            now = configuration.now
        } else {
            now = { feed.position.lastCommitTime ?? .minimum }
        }
        return StoreComponents(
            data: data,
            files: files,
            cache: cache,
            unapplied: unapplied,
            editProblems: editProblems,
            feed: feed,
            history: HistoryIndex(
                journal: journal,
                last: last,
                end: recovered.end,
                maximumBytes: configuration.historyBytes
            ),
            index: DocumentIndex(
                of: FileIndexSource(
                    data: data,
                    journal: journal,
                    unapplied: unapplied,
                    willScan: configuration.willScanForIndex,
                    logger: logger
                ),
                in: data,
                folderPath: configuration.folder,
                cacheBytes: configuration.indexCacheBytes,
                isRebuildForced: configuration.rebuildsIndex,
                waitTimeout: configuration.indexWaitTimeout,
                waitDocumentCount: configuration.indexWaitDocumentCount,
                lowDiskSpaceTimeout: configuration.indexLowDiskSpaceTimeout,
                last: last,
                onReadStart: configuration.observer.map { $0.recordWaits(in: .query) },
                logger: logger
            ),
            checkpointer: Checkpointer(
                data: data,
                quarantine: quarantine,
                journal: journal,
                writeLatch: writeLatch,
                disk: disk,
                configuration: configuration,
                logger: logger
            ),
            disk: disk,
            quota: StoredQuota(in: data, logger: logger),
            writeLatch: writeLatch,
            timestamps: TimestampOracle(now),
            primary: configuration.primary,
            checkpointBytes: configuration.checkpointBytes,
            checkpointDocuments: configuration.checkpointDocuments,
            checkpointIdleTime: configuration.checkpointIdleTime,
            idleMemoryReleaseTime: configuration.idleMemoryReleaseTime,
            listedFolderBytes: configuration.listedFolderBytes,
            observer: configuration.observer,
            logger: logger
        )
    }
}

// MARK: - Logging

extension StoreRecovery {
    private static func log(
        manifest: DataFolderManifest,
        _ recovered: borrowing RecoveredJournal,
        _ replay: JournalReplay,
        _ sweep: TemporaryFileSweep,
        foreign: [StatusError],
        lastSequence: SequenceNumber,
        to logger: Logger
    ) {
        // Only the folder of the root collections is listed here. Foreign files in subfolders are reported when they are listed.
        if let first = foreign.first {
            logger.warning(
                "Ignoring unrecognized files or folders among the documents; run hearth check to list them",
                metadata: [
                    "store.foreign_entries": "\(foreign.count)", "file.path": "\(first.file?.path ?? "")", "error": "\(first)",
                ]
            )
        }
        logJournal(recovered, manifest: manifest, to: logger)
        logger.info(
            "Opened the data folder",
            metadata: [
                "store.sequence": "\(lastSequence)",
                "store.was_closed": "\(manifest.isClean)",
                "recovery.commits": "\(replay.commitCount)",
                "recovery.documents": "\(replay.documentCount)",
                "recovery.truncated_bytes": "\(recovered.truncatedTail?.byteCount ?? 0)",
                "recovery.temporary_files": "\(sweep.count)",
            ]
        )
        if let first = replay.unwritable.first {
            logger.error(
                """
                Recovery cannot write the files of some documents. They are readable, but reject writes until their files \
                are writable; waiting.ndjson contains them until then
                """,
                metadata: [
                    "store.unwritable_documents": "\(replay.unwritable.count)", "document.path": "\(first.path)",
                    "error": "\(first.error)",
                ]
            )
        }
        // An immutable file is intentional, so it is not reported.
        if let failure = sweep.failure, !failure.preventsSingleFileAccess {
            logger.warning(
                "Failed to remove a temporary file, which is harmless; the next startup retries",
                metadata: ["error": "\(failure)"]
            )
        }
    }

    /// Logs lost commits, damage and a truncated tail.
    private static func logJournal(
        _ recovered: borrowing RecoveredJournal,
        manifest: DataFolderManifest,
        to logger: Logger
    ) {
        if recovered.journal.epoch != manifest.epoch {
            logger.warning(
                "The store was not closed, and its journal is missing or damaged: commits after the last checkpoint may be lost",
                metadata: [
                    "store.checkpoint_sequence": "\(manifest.sequence)", "store.epoch": "\(recovered.journal.epoch)",
                    "file.path": "\(recovered.damage.map { Journal.path(first: $0.segment) } ?? Journal.folderName)",
                    "file.offset": "\(recovered.damage?.offset ?? 0)",
                ]
            )
        } else if let damage = recovered.damage {
            logger.warning(
                "The journal is damaged. Documents are unaffected; their history begins after the damage",
                metadata: [
                    "file.path": "\(Journal.path(first: damage.segment))", "file.offset": "\(damage.offset)",
                    "store.oldest_sequence": "\(recovered.journal.oldest.map { "\($0)" } ?? "none")",
                ]
            )
        }
        if let (location, byteCount) = recovered.truncatedTail {
            logger.warning(
                """
                Truncated the torn tail of the journal: a batch that was not acknowledged before the crash, or, less likely, one \
                that was damaged later
                """,
                metadata: [
                    "file.path": "\(Journal.path(first: location.segment))", "file.offset": "\(location.offset)",
                    "recovery.truncated_bytes": "\(byteCount)",
                ]
            )
        }
    }
}
