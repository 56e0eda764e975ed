internal import DocumentModel

/// A document whose file could not be brought to its committed state, because it cannot be written.
struct QuarantinedDocument: Hashable {
    let path: DocumentPath
    /// The committed document; `nil` if it was deleted.
    let image: EncodedDocument?
    /// The commit time.
    let time: Timestamp
}
