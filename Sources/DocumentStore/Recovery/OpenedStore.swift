internal import DocumentModel
internal import Logging

/// A data folder that was opened and recovered, before anyone uses it.
struct OpenedStore {
    let data: DataFolder
    let parts: StoreParts
    let writer: JournalWriter
    let installer: DocumentInstaller
    let last: (sequence: SequenceNumber, time: Timestamp?)
}

extension OpenedStore {
    /// Opens and locks the folder, replays what the journal has behind the last checkpoint, and brings that to disk.
    init(_ configuration: FileStoreConfiguration, listers: WorkQueue, logger: Logger) throws(StatusError) {
        let data = try DataFolder.open(configuration.folder, as: configuration.identity ?? DatabaseIdentity())
        let found = data.description
        let cache = DocumentCache(maximumBytes: configuration.cacheBytes)
        let files = DocumentFiles(DocumentFolders(data), cache: cache, log: InstallationLog())
        var sweep = TemporarySweep()
        if !found.isClean || found.hasTemporaryFile { try sweep.run(in: data.documents, DataFolder.documentsName) }
        let waitingDocuments = WaitingDocuments(data)
        var replay = Replay(found.isClean ? [] : try waitingDocuments.read())
        let opened = try Journal.open(
            data.openJournal(),
            Journal.Opening(
                epoch: found.epoch,
                checkpoint: found.sequence,
                isClean: found.isClean,
                segmentBytes: configuration.segmentBytes
            )
        ) { commit in replay.add(commit) }
        var installer = DocumentInstaller(files, cache: cache, leavesTemporaryFile: sweep.failure != nil)
        try replay.run(&installer, logger: logger)

        var last: (sequence: SequenceNumber, time: Timestamp?) = (found.sequence, found.commitTime)
        // A journal that is damaged at its end may tell less.
        if let inJournal = opened.last, inJournal.sequence >= last.sequence { last = (inJournal.sequence, inJournal.time) }
        // Commits that changed nothing have been given later times, and are in no journal.
        let latestTime = [last.time, found.commitTime].compactMap(\.self).max()
        let epoch = opened.journal.epoch
        let uninstalled = UninstalledDocuments()
        for (document, _) in replay.unwritable { uninstalled.confine(document) }
        if !found.isClean {
            try Self.synchronize(data)
            do throws(StatusError) {
                try waitingDocuments.note(uninstalled.confined) { description in
                    description.epoch = epoch
                    description.sequence = last.sequence
                    description.commitTime = latestTime
                    description.isClean = uninstalled.isEmpty
                    description.hasTemporaryFile = installer.leavesTemporaryFile
                }
            } catch {
                // The journal still has everything, and whoever has to make room may want to read first.
                guard error.code == .resourceExhausted, epoch == found.epoch else { throw error }
                logger.warning("There is no room to note what was recovered", metadata: ["error": "\(error)"])
            }
        }
        Self.reportForeign(try files.folders.collections(under: []).damaged, to: logger)
        Self.report(opened, checkpoint: found.sequence, isLost: epoch != found.epoch, to: logger)
        logger.info(
            "Opened the data folder",
            metadata: [
                "store.sequence": "\(last.sequence)",
                "store.was_closed": "\(found.isClean)",
                "recovery.commits": "\(replay.commits)",
                "recovery.documents": "\(replay.documents)",
                "recovery.cut_bytes": "\(opened.cut?.byteCount ?? 0)",
                "recovery.temporaries": "\(sweep.count)",
            ]
        )

        Self.report(replay.unwritable, to: logger)
        // Where a person has seen to it that nothing changes, it is known.
        if let failure = sweep.failure, !failure.forbidsOneFile {
            logger.warning(
                "A temporary file could not be removed. It does no harm, and the next start tries again",
                metadata: ["error": "\(failure)"]
            )
        }

        let failure = StoreFailure()
        parts = StoreParts(
            data: data,
            files: files,
            cache: cache,
            uninstalled: uninstalled,
            feed: ChangeFeed(
                last: last.sequence,
                lastTime: last.time,
                database: found.database,
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
                cacheBytes: configuration.indexCacheBytes,
                isRemade: configuration.remakesIndex,
                patience: configuration.indexPatience,
                spacePatience: configuration.indexSpacePatience,
                journal: opened.journal,
                last: last,
                uninstalled: uninstalled,
                logger: logger
            ),
            checkpointer: Checkpointer(
                data: data,
                waitingDocuments: waitingDocuments,
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
        self.last = (last.sequence, latestTime)
        writer = opened.writer
        self.installer = installer
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

    /// Tells of the documents whose files may not be written.
    private static func report(_ unwritable: [(document: WaitingDocument, error: StatusError)], to logger: Logger) {
        guard let first = unwritable.first else { return }
        logger.error(
            """
            Files that recovery has to change may not be written. Their documents are given to readers and can't be changed until \
            that is mended; waiting.ndjson has them until then
            """,
            metadata: [
                "store.unwritable": "\(unwritable.count)", "document.path": "\(first.document.path)", "error": "\(first.error)",
            ]
        )
    }

    /// Tells what the journal has lost, or may have.
    private static func report(
        _ opened: borrowing OpenedJournal,
        checkpoint: SequenceNumber,
        isLost: Bool,
        to logger: Logger
    ) {
        if isLost {
            logger.warning(
                "The store was not closed, and its journal is gone or damaged: commits after the last checkpoint may be lost",
                metadata: [
                    "store.checkpoint": "\(checkpoint)", "store.epoch": "\(opened.journal.epoch)",
                    "file.path": "\(opened.damage.map { Journal.path(first: $0.segment) } ?? DataFolder.journalName)",
                    "file.byte": "\(opened.damage?.offset ?? 0)",
                ]
            )
        } else if let damage = opened.damage {
            logger.warning(
                "The journal is damaged, in a part that the documents don't need: their history is kept from behind it on only",
                metadata: [
                    "file.path": "\(Journal.path(first: damage.segment))", "file.byte": "\(damage.offset)",
                    "store.oldest": "\(opened.journal.oldest.map { "\($0)" } ?? "none")",
                ]
            )
        }
        if let (place, byteCount) = opened.cut {
            logger.warning(
                """
                The end of the journal was cut off: a batch that was being written when the machine stopped and was not \
                acknowledged. One that was damaged later can't be told from that
                """,
                metadata: [
                    "file.path": "\(Journal.path(first: place.segment))", "file.byte": "\(place.offset)",
                    "recovery.cut_bytes": "\(byteCount)",
                ]
            )
        }
    }
}
