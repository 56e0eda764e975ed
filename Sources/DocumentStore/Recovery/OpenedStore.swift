internal import DocumentModel
internal import Logging

/// A data folder that was opened and recovered, before anyone uses it.
struct OpenedStore {
    let data: DataFolder
    let parts: StoreParts
    let writer: JournalWriter
    let last: (sequence: SequenceNumber, time: Timestamp?)
}

extension OpenedStore {
    /// Opens and locks the folder, replays what the journal has behind the last checkpoint, and brings that to disk.
    init(_ configuration: FileStoreConfiguration, listers: WorkQueue, logger: Logger) throws(StatusError) {
        let data = try DataFolder.open(configuration.folder)
        let found = data.description
        let cache = DocumentCache(maximumBytes: configuration.cacheBytes)
        let files = DocumentFiles(DocumentFolders(data), cache: cache, log: InstallationLog())
        var sweep = TemporarySweep()
        if !found.isClean { try sweep.run(in: data.documents, DataFolder.documentsName) }
        var replay = Replay()
        let opened = try Journal.open(
            data.openJournal(),
            Journal.Opening(
                epoch: found.epoch,
                checkpoint: found.sequence,
                isClean: found.isClean,
                segmentBytes: configuration.segmentBytes
            )
        ) { commit in replay.add(commit) }
        var installer = DocumentInstaller(files, cache: cache)
        try replay.run(&installer, logger: logger)

        var last: (sequence: SequenceNumber, time: Timestamp?) = (found.sequence, found.commitTime)
        if let inJournal = opened.last { last = (inJournal.sequence, max(inJournal.time, found.commitTime ?? .minimum)) }
        let epoch = opened.journal.epoch
        if !found.isClean {
            try Self.synchronize(data)
            try data.update { description in
                description.epoch = epoch
                description.sequence = last.sequence
                description.commitTime = last.time
                description.isClean = true
            }
        }
        Self.reportForeign(try files.folders.collections(under: []).damaged, to: logger)
        Self.report(found, epoch: epoch, last: last.sequence, sweep, replay, cutBytes: opened.cutBytes, to: logger)

        let failure = StoreFailure()
        let uninstalled = UninstalledDocuments()
        parts = StoreParts(
            data: data,
            files: files,
            cache: cache,
            uninstalled: uninstalled,
            feed: ChangeFeed(
                last: last.sequence,
                lastTime: last.time,
                maximumBytes: configuration.recentBytes,
                journal: opened.journal,
                listers: listers
            ),
            history: History(
                journal: opened.journal,
                last: last,
                end: opened.end,
                maximumBytes: configuration.historyBytes
            ),
            index: DocumentIndex(
                data,
                folder: configuration.folder,
                isRemade: configuration.remakesIndex,
                patience: configuration.indexPatience,
                journal: opened.journal,
                last: last,
                uninstalled: uninstalled,
                logger: logger
            ),
            checkpointer: Checkpointer(
                data: data,
                journal: opened.journal,
                failure: failure,
                configuration: configuration,
                logger: logger
            ),
            failure: failure,
            clock: CommitClock(configuration.now),
            checkpointBytes: configuration.checkpointBytes,
            checkpointIdleTime: configuration.checkpointIdleTime,
            listedFolderBytes: configuration.listedFolderBytes,
            logger: logger
        )
        self.data = data
        self.last = last
        writer = opened.writer
        parts.index.start()
    }

    private static func synchronize(_ data: DataFolder) throws(StatusError) {
        try reporting("sync", DataFolder.documentsName) { () throws(SystemError) in try data.documents.synchronizeFileSystem() }
    }

    /// Tells of what lies among the collections at the top and is none. What is further down is found where it is listed.
    private static func reportForeign(_ found: [StatusError], to logger: Logger) {
        guard let first = found.first else { return }
        logger.warning(
            "There are files or folders among the documents that are none of Hearth's; they are left alone. hearth check names all",
            metadata: ["store.foreign": "\(found.count)", "file.path": "\(first.file?.path ?? "")", "error": "\(first)"]
        )
    }

    private static func report(
        _ found: DatabaseDescription,
        epoch: Epoch,
        last: SequenceNumber,
        _ sweep: TemporarySweep,
        _ replay: Replay,
        cutBytes: Int,
        to logger: Logger
    ) {
        if epoch != found.epoch {
            logger.warning(
                "The store was not closed, and its journal is gone: commits after the last checkpoint may be lost",
                metadata: ["store.checkpoint": "\(found.sequence)", "store.epoch": "\(epoch)"]
            )
        }
        logger.info(
            "Opened the data folder",
            metadata: [
                "store.sequence": "\(last)",
                "store.was_closed": "\(found.isClean)",
                "recovery.commits": "\(replay.commits)",
                "recovery.documents": "\(replay.documents)",
                "recovery.cut_bytes": "\(cutBytes)",
                "recovery.temporaries": "\(sweep.count)",
            ]
        )
    }
}
