internal import Dispatch
internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging
internal import StorageIO
internal import Synchronization

/// Makes checkpoints: syncs the document files, records in the manifest the commit up to which they are durable, and removes
/// expired journal segments.
final class Checkpointer: Sendable {
    /// The state that a checkpoint makes durable.
    struct Checkpoint {
        /// The last commit that has been applied to the files.
        let sequence: SequenceNumber
        /// Its time; `nil` before the first commit.
        let time: Timestamp?
        /// The documents that have not been applied to their files.
        let stored: [QuarantinedDocument]
        /// True if files have been written anew without a commit since the last checkpoint.
        let hasRewrittenFiles: Bool
        /// The receipts of the commits.
        let receipts: StoredReceipts
    }

    private let data: DataFolder
    let quarantine: QuarantinedDocuments
    let journal: Journal
    private let writeLatch: WriteLatch
    private let disk: DiskMonitor
    /// The change count of the receipts that were last written; `nil` before the first time.
    private let writtenReceipts = Mutex<Int?>(nil)
    /// The number of consecutive failures.
    private let failureCount = Mutex(0)
    private let configuration: FileStoreConfiguration
    private let logger: Logger
    private let queue = DispatchQueue(label: "hearth.checkpoint", qos: .utility)

    init(
        data: DataFolder,
        quarantine: QuarantinedDocuments,
        journal: Journal,
        writeLatch: WriteLatch,
        disk: DiskMonitor,
        configuration: FileStoreConfiguration,
        logger: Logger
    ) {
        self.data = data
        self.quarantine = quarantine
        self.journal = journal
        self.writeLatch = writeLatch
        self.disk = disk
        self.configuration = configuration
        self.logger = logger
    }

    /// The journal's size.
    var journalBytes: Int { journal.byteCount }

    /// The journal's maximum size.
    var maximumJournalBytes: Int { configuration.retentionBytes }

    /// Marks the database as unclean in the manifest, before the first write after a clean startup: from then on the journal is
    /// needed.
    ///
    /// - Parameter index: The index, which is also marked as being written.
    func markUnclean(_ index: DocumentIndex) throws(StatusError) {
        let current = data.manifest
        let mark = if let openIndex = current.openIndex { openIndex } else { try index.openMarker() }
        try data.update { manifest in
            manifest.isClean = false
            manifest.openIndex = mark
        }
    }

    /// Starts a checkpoint in the background, after the previous one has ended.
    ///
    /// The wait slows writers down to the speed of the disk, which bounds the journal.
    func start(_ checkpoint: Checkpoint) {
        wait()
        queue.async { _ = self.run(checkpoint, retaining: self.configuration.retainedBytes) }
    }

    /// Waits for the checkpoint in progress.
    func wait() {
        queue.sync {}
    }

    /// Makes the final checkpoint, after the one in progress. The journal is not needed afterward, unless documents are
    /// quarantined.
    ///
    /// - Parameters:
    ///   - isIndexDurable: True if the index has been closed and synced.
    ///   - hasLeftoverTemporaryFile: True if the next startup has to remove a temporary file.
    /// - Returns: The error of a failed checkpoint; `nil` on success.
    func finish(_ checkpoint: Checkpoint, isIndexDurable: Bool, hasLeftoverTemporaryFile: Bool) -> StatusError? {
        queue.sync {
            run(checkpoint, retaining: configuration.retentionBytes) { manifest in
                manifest.isClean = checkpoint.stored.isEmpty
                manifest.hasTemporaryFile = hasLeftoverTemporaryFile
                if isIndexDurable { manifest.openIndex = nil }
            }
        }
    }

    /// Makes a checkpoint. Of consecutive failures the first is logged, and the success after the last.
    private func run(
        _ checkpoint: Checkpoint,
        retaining retainedBytes: Int,
        _ change: (inout DataFolderManifest) -> Void = { $0.isClean = false }
    ) -> StatusError? {
        do throws(StatusError) {
            try make(checkpoint, retaining: retainedBytes, change)
            let failures = failureCount.withLock { count in
                defer { count = 0 }
                return count
            }
            if failures > 0 { logger.info("Checkpoints succeed again", metadata: ["checkpoint.failures": "\(failures)"]) }
            return nil
        } catch {
            let isFirst = failureCount.withLock { count in
                count += 1
                return count == 1
            }
            if isFirst {
                logger.error(
                    "Checkpoint failed; retrying, without a log entry for each failure",
                    metadata: ["error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")"]
                )
            }
            return error
        }
    }

    private func make(
        _ checkpoint: Checkpoint,
        retaining retainedBytes: Int,
        _ change: (inout DataFolderManifest) -> Void
    ) throws(StatusError) {
        if data.manifest.sequence < checkpoint.sequence || checkpoint.hasRewrittenFiles
            || quarantine.hasOthers(than: checkpoint.stored)
        {
            try synchronize()
        }
        // In this order: the receipts have at least the commits of the manifest.
        try writtenReceipts.withLock { written throws(StatusError) in
            let count = checkpoint.receipts.receipts.changeCount
            guard written != count else { return }
            try checkpoint.receipts.write(in: data)
            written = count
            data.prepareUpdate { $0.receiptsSequence = checkpoint.receipts.storedSequence }
        }
        try quarantine.record(checkpoint.stored) { manifest in
            manifest.sequence = checkpoint.sequence
            manifest.commitTime = checkpoint.time
            change(&manifest)
        }
        let oldest = configuration.now().microseconds - configuration.retentionAge.microseconds
        try journal.removeExpired(
            through: checkpoint.sequence,
            before: (try? Timestamp(microseconds: oldest)) ?? .minimum,
            byteCount: retainedBytes
        )
        data.reserve?.replenish()
        disk.check()
        Allocator.trim()
    }

    private func synchronize() throws(StatusError) {
        do throws(FileSystemError) {
            try data.documents.synchronizeFileSystem()
        } catch {
            let status = error.status("sync", DataFolder.documentsName)
            // The kernel has dropped the pages that could not be written, and a second sync would not report them. The journal still
            // contains their commits.
            writeLatch.trip(status)
            throw status
        }
    }
}

extension Duration {
    fileprivate var microseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds * 1_000_000 + attoseconds / 1_000_000_000_000
    }
}
