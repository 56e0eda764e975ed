internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore
internal import Journal
internal import Logging

/// The source of the index of a data folder: the document files and the journal.
struct FileIndexSource: IndexSource {
    let data: DataFolder
    let journal: Journal
    let unapplied: UnappliedDocuments
    /// Called before each batch of a scan.
    let willScan: @Sendable () -> Void
    let logger: Logger

    /// The first epoch of the history: branches go on with its index, which has none of the commits that they left behind.
    var epoch: Epoch { data.manifest.lineage.first?.epoch ?? journal.epoch }

    var oldestCommit: SequenceNumber? { journal.oldest }

    var unappliedDocuments: [DocumentPath: EncodedDocument?] { unapplied.all }

    var lastAppliedSequence: SequenceNumber? { unapplied.lastInstalled }

    func commits(after sequence: SequenceNumber, through last: SequenceNumber) throws(StatusError) -> [Commit] {
        try journal.commits(after: sequence, through: last)
    }

    func scanDocuments(
        position: @escaping @Sendable () -> SequenceNumber,
        onCount: @escaping @Sendable (Int, _ isComplete: Bool) -> Void
    ) -> any DocumentScan {
        DocumentFileScanner(data, unapplied, willScan: willScan, position: position, onCount: onCount, logger: logger)
    }
}
