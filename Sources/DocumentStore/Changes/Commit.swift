package import DocumentModel
package import UTF8Text

/// A commit in the commit log.
package struct Commit: Hashable, Sendable {
    /// The position in the total order of commits.
    package let sequence: SequenceNumber
    /// The commit time, which is also the update time of the changed documents.
    package let time: Timestamp
    /// The ID of the API key used for the commit; `nil` if there was none.
    package let author: UTF8Key?
    /// The net change to each changed document, in the order of the writes. Empty only for a commit with a receipt that changed nothing,
    /// and where changes are hidden from a reader.
    package let changes: [CommittedChange]
    /// The receipt of the commit; `nil` if it had no identity. Only for the store and its copies.
    package let receipt: CommitReceipt?

    /// Creates a commit.
    package init(
        sequence: SequenceNumber,
        time: Timestamp,
        author: UTF8Key? = nil,
        changes: [CommittedChange],
        receipt: CommitReceipt? = nil
    ) {
        self.sequence = sequence
        self.time = time
        self.author = author
        self.changes = changes
        self.receipt = receipt
    }
}

extension Commit {
    /// Returns the change to a document; `nil` if the commit did not change it.
    package func change(to path: DocumentPath) -> CommittedChange? { changes.first { $0.path == path } }
}

/// The net change that a commit made to one document.
package struct CommittedChange: Hashable, Sendable {
    /// The document's path.
    package let path: DocumentPath
    /// The before-image. `nil` if the document did not exist, and usually for a change read from the journal, which contains
    /// a before-image only for a document's first change in a segment.
    package let before: EncodedDocument?
    /// The after-image; `nil` if the commit deleted the document.
    package let after: EncodedDocument?
    /// True if the document existed before the commit, even without a before-image.
    package let existedBefore: Bool

    /// Creates a change.
    package init(path: DocumentPath, before: EncodedDocument?, after: EncodedDocument?, existedBefore: Bool) {
        self.path = path
        self.before = before
        self.after = after
        self.existedBefore = existedBefore
    }
}
