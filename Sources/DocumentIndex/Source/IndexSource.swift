package import DocumentModel
package import DocumentStore

/// The source of an index: the documents and the commits of a store.
package protocol IndexSource: Sendable {
    /// The epoch of the store's history.
    var epoch: Epoch { get }

    /// The oldest commit that ``commits(after:through:)`` can return; `nil` if there is none.
    var oldestCommit: SequenceNumber? { get }

    /// Returns the commits after `sequence` up to and including `last`, in order: as many as fit in memory, but at least one if
    /// there are any.
    func commits(after sequence: SequenceNumber, through last: SequenceNumber) throws(StatusError) -> [Commit]

    /// The documents of commits that are not in their files, as of their last commit; `nil` for deleted ones. A scan contains them
    /// only if they have a file.
    var unappliedDocuments: [DocumentPath: EncodedDocument?] { get }

    /// The last commit of which a scan contains all documents; `nil` if that is the last one.
    var lastAppliedSequence: SequenceNumber? { get }

    /// Starts a scan of all documents, which are also counted by their names, ahead of the scan.
    ///
    /// - Parameters:
    ///   - position: Returns the last commit whose documents a scan contains.
    ///   - onCount: Called repeatedly with the number of documents counted so far, and whether these are all.
    func scanDocuments(
        position: @escaping @Sendable () -> SequenceNumber,
        onCount: @escaping @Sendable (Int, _ isComplete: Bool) -> Void
    ) -> any DocumentScan
}

/// A scan of all documents, in batches. Documents may be written concurrently.
package protocol DocumentScan: Sendable {
    /// Waits for the next batch; `nil` at the end.
    func next() throws(StatusError) -> DocumentBatch?

    /// Cancels the scan.
    func cancel()
}

/// A batch of documents of a scan.
///
/// It contains every commit of its documents up to its position, and possibly later ones. A document that was being replaced may be
/// missing; then it was committed after that position, or was in ``IndexSource/unappliedDocuments`` when the scan started.
package struct DocumentBatch: Sendable {
    /// The last commit whose documents were in place before the first document was read.
    package let position: SequenceNumber
    /// The documents.
    package var documents: [(path: DocumentPath, fields: MapValue)] = []
    /// The documents that cannot be read.
    package var unreadable: [DocumentPath] = []
    /// The approximate size of the documents.
    package var byteCount = 0

    /// Creates an empty batch.
    package init(position: SequenceNumber) {
        self.position = position
    }
}
