internal import DocumentIndex
internal import DocumentModel
internal import DocumentStore

extension CommitBatch {
    /// The net changes of the batch.
    var netChanges: [NetDocumentChange] {
        changedPaths.map { path in
            let image = image(of: path)
            return NetDocumentChange(path: path, document: image?.encoded, isNew: image?.isNew == true)
        }
    }

    /// The net changes for the index; `nil` if the batch changes nothing.
    var indexUpdate: IndexUpdate? {
        guard let first = commits.first, let newest = commits.last else { return nil }
        return IndexUpdate(
            first: first.sequence,
            last: newest.sequence,
            time: newest.time,
            changes: changedPaths.map { ($0, image(of: $0)?.decoded?.fields) },
            byteCount: byteCount
        )
    }
}
