internal import Dispatch
internal import DocumentModel
internal import Logging

/// Syncs the document files in bulk, notes up to which commit they are on disk, and lets old journal go.
final class Checkpointer: Sendable {
    private let data: DataFolder
    private let journal: Journal
    private let failure: StoreFailure
    private let configuration: FileStoreConfiguration
    private let logger: Logger
    private let thread = DispatchQueue(label: "hearth.checkpoint", qos: .utility)

    init(data: DataFolder, journal: Journal, failure: StoreFailure, configuration: FileStoreConfiguration, logger: Logger) {
        self.data = data
        self.journal = journal
        self.failure = failure
        self.configuration = configuration
        self.logger = logger
    }

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

    /// Begins a checkpoint in the background, up to a commit whose documents' files are in place.
    ///
    /// Waits for the one before: where the disk can't keep up writers wait for it, or the journal would grow without bound.
    func start(sequence: SequenceNumber, time: Timestamp?) {
        wait()
        thread.async { _ = self.run(sequence: sequence, time: time, leaving: self.configuration.keptBytes) }
    }

    /// Returns when the checkpoint that goes on is done.
    func wait() {
        thread.sync {}
    }

    /// Makes the last checkpoint, after which the journal is not needed, when the one going on is done; returns why it failed,
    /// or nil.
    ///
    /// - Parameter isIndexOnDisk: Whether the index has been closed and is on disk.
    func finish(sequence: SequenceNumber, time: Timestamp?, isIndexOnDisk: Bool) -> StatusError? {
        thread.sync {
            run(sequence: sequence, time: time, leaving: configuration.retentionBytes) { description in
                description.isClean = true
                if isIndexOnDisk { description.openIndex = nil }
            }
        }
    }

    private func run(
        sequence: SequenceNumber,
        time: Timestamp?,
        leaving keptBytes: Int,
        _ change: (inout DatabaseDescription) -> Void = { $0.isClean = false }
    ) -> StatusError? {
        do throws(StatusError) {
            if data.description.sequence < sequence { try synchronize() }
            try data.update { description in
                description.sequence = sequence
                description.commitTime = time
                change(&description)
            }
            let kept = configuration.now().microseconds - configuration.retentionAge.microseconds
            try journal.retire(
                through: sequence,
                before: (try? Timestamp(microseconds: kept)) ?? .minimum,
                byteCount: keptBytes
            )
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
