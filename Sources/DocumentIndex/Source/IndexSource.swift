package import DocumentModel
package import DocumentStore

/// The source of an index: the documents and the commits of a store.
package protocol IndexSource: Sendable {
    /// The epoch of the store's history.
    var epoch: Epoch { get }

    /// The oldest commit that ``commits(after:through:)`` can return; nil if there is none.
    var oldestCommit: SequenceNumber? { get }

    /// Returns commits after one, in order, up to and including another: as many as fit in memory, but at least one if there is any.
    func commits(after sequence: SequenceNumber, through last: SequenceNumber) throws(StatusError) -> [Commit]

    /// The documents of commits that a scan does not contain yet, as of their last commit; nil for deleted ones.
    var unappliedDocuments: [DocumentPath: EncodedDocument?] { get }

    /// Starts a scan of all documents.
    ///
    /// - Parameter position: Returns the last commit whose documents a scan contains.
    func scanDocuments(position: @escaping @Sendable () -> SequenceNumber) -> any DocumentScan
}

/// A scan of all documents, in batches. Documents may be written concurrently.
package protocol DocumentScan: Sendable {
    /// Waits for the next batch; nil at the end.
    func next() throws(StatusError) -> DocumentBatch?

    /// Cancels the scan.
    func cancel()
}

/// A batch of documents of a scan.
///
/// It contains every commit of its documents up to its position, and possibly later ones. A document that was being replaced may be
/// missing; then it was committed after that position.
package struct DocumentBatch: Sendable {
    /// The last commit whose documents were in place before the first document was read.
    package let position: SequenceNumber
    /// The documents.
    package var documents: [(path: DocumentPath, fields: MapValue)] = []
    /// The approximate size of the documents.
    package var byteCount = 0

    /// Creates an empty batch.
    package init(position: SequenceNumber) {
        self.position = position
    }
}
