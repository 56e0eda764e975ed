internal import Dispatch
internal import DocumentModel
internal import Logging

/// Syncs the document files in bulk, notes up to which commit they are on disk, and lets old journal go.
final class Checkpointer: Sendable {
    /// Up to where the documents' files are in place.
    struct Checkpoint {
        /// The last commit.
        let sequence: SequenceNumber
        /// Its time; nil before the first.
        let time: Timestamp?
        /// The documents whose files are not.
        let waiting: [WaitingDocument]
    }

    private let data: DataFolder
    private let waitingDocuments: WaitingDocuments
    private let journal: Journal
    private let failure: StoreFailure
    private let configuration: FileStoreConfiguration
    private let logger: Logger
    private let thread = DispatchQueue(label: "hearth.checkpoint", qos: .utility)

    init(
        data: DataFolder,
        waitingDocuments: WaitingDocuments,
        journal: Journal,
        failure: StoreFailure,
        configuration: FileStoreConfiguration,
        logger: Logger
    ) {
        self.data = data
        self.waitingDocuments = waitingDocuments
        self.journal = journal
        self.failure = failure
        self.configuration = configuration
        self.logger = logger
    }

    /// How large the journal is.
    var journalBytes: Int { journal.byteCount }

    /// How large it may become.
    var maximumJournalBytes: Int { configuration.retentionBytes }

    /// Notes that the journal is needed from now on, before the first write after a clean start.
    ///
    /// - Parameter index: The index, which will be written too.
    func willWrite(_ index: DocumentIndex) throws(StatusError) {
        let openIndex = data.description.openIndex
        let mark = if let openIndex { openIndex } else { try index.mark() }
        try data.update { description in
            description.isClean = false
            description.openIndex = mark
        }
    }

    /// Begins a checkpoint in the background.
    ///
    /// Waits for the one before: where the disk can't keep up writers wait for it, or the journal would grow without bound.
    func start(_ checkpoint: Checkpoint) {
        wait()
        thread.async { _ = self.run(checkpoint, leaving: self.configuration.keptBytes) }
    }

    /// Returns when the checkpoint that goes on is done.
    func wait() {
        thread.sync {}
    }

    /// Makes the last checkpoint, when the one going on is done; returns why it failed, or nil. The journal is not needed after it,
    /// unless documents wait.
    ///
    /// - Parameters:
    ///   - isIndexOnDisk: Whether the index has been closed and is on disk.
    ///   - leavesTemporaryFile: Whether the next start has a temporary file to look for.
    func finish(_ checkpoint: Checkpoint, isIndexOnDisk: Bool, leavesTemporaryFile: Bool) -> StatusError? {
        thread.sync {
            run(checkpoint, leaving: configuration.retentionBytes) { description in
                description.isClean = checkpoint.waiting.isEmpty
                description.hasTemporaryFile = leavesTemporaryFile
                if isIndexOnDisk { description.openIndex = nil }
            }
        }
    }

    private func run(
        _ checkpoint: Checkpoint,
        leaving keptBytes: Int,
        _ change: (inout DatabaseDescription) -> Void = { $0.isClean = false }
    ) -> StatusError? {
        do throws(StatusError) {
            if data.description.sequence < checkpoint.sequence || waitingDocuments.hasMore(than: checkpoint.waiting) {
                try synchronize()
            }
            try waitingDocuments.note(checkpoint.waiting) { description in
                description.sequence = checkpoint.sequence
                description.commitTime = checkpoint.time
                change(&description)
            }
            let kept = configuration.now().microseconds - configuration.retentionAge.microseconds
            try journal.retire(
                through: checkpoint.sequence,
                before: (try? Timestamp(microseconds: kept)) ?? .minimum,
                byteCount: keptBytes
            )
            FreedMemory.giveBack()
            return nil
        } catch {
            logger.error(
                "A checkpoint failed",
                metadata: ["error": "\(error)", "error.cause": "\(error.cause.map { "\($0)" } ?? "")"]
            )
            return error
        }
    }

    private func synchronize() throws(StatusError) {
        do throws(SystemError) {
            try data.documents.synchronizeFileSystem()
        } catch {
            let status = error.status("sync", DataFolder.documentsName)
            // The pages that could not be written are dropped, and no further sync would tell. The journal still has them.
            failure.stop(status)
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
