internal import DocumentModel

/// What some commits that follow each other made of documents, as the index takes it in: all of it in one step.
struct IndexUpdate: Sendable {
    /// The first of the commits.
    let first: SequenceNumber
    /// The last of the commits.
    let last: SequenceNumber
    /// The last one's time.
    let time: Timestamp
    /// The documents that were changed, with their fields after the last of the commits; nil where there is none.
    let changes: [(path: DocumentPath, fields: MapValue?)]
    /// About how much there is to do.
    let byteCount: Int
}

extension IndexUpdate {
    /// What commits made that were read back from the journal; there is at least one.
    init?(_ commits: [Commit]) throws(StatusError) {
        guard let first = commits.first, let last = commits.last else { return nil }
        var images: [DocumentPath: EncodedDocument?] = [:]
        var byteCount = 0
        for commit in commits {
            for change in commit.changes {
                images[change.path] = .some(change.after)
                byteCount += change.after?.fieldsJSON.count ?? 0
            }
        }
        var changes: [(path: DocumentPath, fields: MapValue?)] = []
        changes.reserveCapacity(images.count)
        for (path, image) in images { changes.append((path, try image?.decoded().fields)) }
        self.init(first: first.sequence, last: last.sequence, time: last.time, changes: changes, byteCount: byteCount)
    }
}
