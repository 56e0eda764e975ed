internal import DocumentModel

/// The net change to one document by a batch of commits.
struct NetDocumentChange {
    let path: DocumentPath
    /// The document after the batch; `nil` if it was deleted.
    let document: EncodedDocument?
    /// True if the document did not exist before the batch.
    let isNew: Bool

    /// An upper bound on the disk space of the new file, in bytes.
    var fileBytes: Int {
        guard let document else { return 0 }
        let blockBytes = 4096
        // The metadata of the file takes less than the path and 256 bytes.
        let bytes = document.fieldsJSON.count + path.string.utf8.count + 256
        return (bytes + blockBytes - 1) / blockBytes * blockBytes
    }
}
