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
}

extension StoreRecovery {
    /// Recovers a data folder; the recovered documents are durable when this returns.
    init(_ configuration: FileStoreConfiguration, scanQueue: WorkQueue, logger: Logger) throws(StatusError) {
        let data = try DataFolder.open(configuration.folder, as: configuration.identity ?? DatabaseIdentity())
        let manifest = data.manifest
        let cache = DocumentCache(maximumBytes: configuration.cacheBytes)
        let files = DocumentFiles(DocumentFolders(data), cache: cache, log: ApplyLog())
        var sweep = TemporaryFileSweep()
        if !manifest.isClean || manifest.hasTemporaryFile { try sweep.run(in: data.documents, DataFolder.documentsName) }
        let quarantine = QuarantinedDocuments(data)
        var replay = JournalReplay(manifest.isClean ? [] : try quarantine.read())
        let recovered = try Journal.open(
            data.openJournal(),
            Journal.RecoveryOptions(
                epoch: manifest.epoch,
                checkpoint: manifest.sequence,
                isClean: manifest.isClean,
                segmentBytes: configuration.segmentBytes
            )
        ) { commit in replay.add(commit) }
        var fileWriter = DocumentFileWriter(files, cache: cache, hasLeftoverTemporaryFile: sweep.failure != nil)
        try replay.run(&fileWriter, logger: logger)

        var last: (sequence: SequenceNumber, time: Timestamp?) = (manifest.sequence, manifest.commitTime)
        // A journal with a damaged end may contain less than the manifest states.
        if let inJournal = recovered.last, inJournal.sequence >= last.sequence { last = (inJournal.sequence, inJournal.time) }
        // Commits without changes have used later times, and are not in the journal.
        let latestTime = [last.time, manifest.commitTime].compactMap(\.self).max()
        let unapplied = UnappliedDocuments()
        for (document, _) in replay.unwritable { unapplied.quarantine(document) }
        if !manifest.isClean {
            var updated = manifest
            updated.epoch = recovered.journal.epoch
            updated.sequence = last.sequence
            updated.commitTime = latestTime
            updated.isClean = unapplied.isEmpty
            updated.hasTemporaryFile = fileWriter.hasLeftoverTemporaryFile
            try Self.makeDurable(data, updated, unapplied, quarantine, logger: logger)
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
            quarantine: quarantine,
            recovered: recovered,
            last: last,
            configuration: configuration,
            scanQueue: scanQueue,
            logger: logger
        )
        self.data = data
        self.last = (last.sequence, latestTime)
        writer = recovered.takeWriter()
        self.fileWriter = fileWriter
        components.index.start()
    }

    /// Syncs the recovered files and records them in the manifest.
    private static func makeDurable(
        _ data: DataFolder,
        _ updated: DataFolderManifest,
        _ unapplied: UnappliedDocuments,
        _ quarantine: QuarantinedDocuments,
        logger: Logger
    ) throws(StatusError) {
        let epoch = data.manifest.epoch
        try reporting("sync", DataFolder.documentsName) { () throws(FileSystemError) in try data.documents.synchronizeFileSystem()
        }
        do throws(StatusError) {
            try quarantine.record(unapplied.quarantined) { manifest in
                manifest.epoch = updated.epoch
                manifest.sequence = updated.sequence
                manifest.commitTime = updated.commitTime
                manifest.isClean = updated.isClean
                manifest.hasTemporaryFile = updated.hasTemporaryFile
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
        quarantine: QuarantinedDocuments,
        recovered: borrowing RecoveredJournal,
        last: (sequence: SequenceNumber, time: Timestamp?),
        configuration: FileStoreConfiguration,
        scanQueue: WorkQueue,
        logger: Logger
    ) -> StoreComponents {
        let journal = recovered.journal
        let writeLatch = WriteLatch()
        return StoreComponents(
            data: data,
            files: files,
            cache: cache,
            unapplied: unapplied,
            feed: ChangeFeed(
                last: last.sequence,
                lastTime: last.time,
                database: data.manifest.database,
                maximumBytes: configuration.recentBytes,
                journal: journal,
                scanQueue: scanQueue
            ),
            history: HistoryIndex(
                journal: journal,
                last: last,
                end: recovered.end,
                maximumBytes: configuration.historyBytes
            ),
            index: DocumentIndex(
                of: FileIndexSource(data: data, journal: journal, unapplied: unapplied, logger: logger),
                in: data,
                folderPath: configuration.folder,
                cacheBytes: configuration.indexCacheBytes,
                isRebuildForced: configuration.rebuildsIndex,
                waitTimeout: configuration.indexWaitTimeout,
                lowDiskSpaceTimeout: configuration.indexLowDiskSpaceTimeout,
                last: last,
                logger: logger
            ),
            checkpointer: Checkpointer(
                data: data,
                quarantine: quarantine,
                journal: journal,
                writeLatch: writeLatch,
                configuration: configuration,
                logger: logger
            ),
            writeLatch: writeLatch,
            timestamps: TimestampOracle(configuration.now),
            checkpointBytes: configuration.checkpointBytes,
            checkpointIdleTime: configuration.checkpointIdleTime,
            listedFolderBytes: configuration.listedFolderBytes,
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
        // Only the root collections' folder is listed here. Foreign files in subfolders are reported when they are listed.
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
                Recovery can't write the files of some documents. They are readable, but rejected for writing until their files \
                are writable; waiting.ndjson contains them until then
                """,
                metadata: [
                    "store.unwritable_documents": "\(replay.unwritable.count)", "document.path": "\(first.document.path)",
                    "error": "\(first.error)",
                ]
            )
        }
        // An immutable file is intentional, so it is not reported.
        if let failure = sweep.failure, !failure.preventsSingleFileAccess {
            logger.warning(
                "Failed to remove a temporary file, which is harmless; the next start retries",
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
