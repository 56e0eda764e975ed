internal import DocumentModel

/// The net change of one document by a batch of commits.
struct NetDocumentChange {
    let path: DocumentPath
    /// The document after the batch; nil if it was deleted.
    let document: EncodedDocument?
    /// True if the document did not exist before the batch.
    let isNew: Bool
}
