package import DocumentModel
package import DocumentStore

/// The combined changes of consecutive commits, which the index applies in one transaction.
package struct IndexUpdate: Sendable {
    /// The first commit.
    let first: SequenceNumber
    /// The last commit.
    let last: SequenceNumber
    /// The time of the last commit.
    let time: Timestamp
    /// The changed documents with their fields after the last commit; `nil` for deleted ones.
    let changes: [(path: DocumentPath, fields: MapValue?)]
    /// The approximate size of the changes.
    let byteCount: Int

    /// Creates an update.
    package init(
        first: SequenceNumber,
        last: SequenceNumber,
        time: Timestamp,
        changes: [(path: DocumentPath, fields: MapValue?)],
        byteCount: Int
    ) {
        self.first = first
        self.last = last
        self.time = time
        self.changes = changes
        self.byteCount = byteCount
    }
}

extension IndexUpdate {
    /// Combines commits read from the journal; `nil` if there are none.
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
