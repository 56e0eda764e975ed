internal import DocumentModel

/// A document that is stored outside of its file: one whose file could not be brought to its committed state, because it cannot be
/// written, or keeps the text of an edit.
struct QuarantinedDocument: Hashable {
    let path: DocumentPath
    /// The committed document; `nil` if it was deleted.
    let image: EncodedDocument?
    /// The commit time.
    let time: Timestamp
    /// True if the file keeps the text of an edit.
    var keepsText = false
}
