package import DocumentModel
package import StrictJSON

/// One commit as watchers see it.
package struct Commit: Hashable, Sendable {
    /// Its place in the order of commits.
    package let sequence: SequenceNumber
    /// Its time, which is also the update time of the documents that it changed.
    package let time: Timestamp
    /// Who made it: the ID of the key that it came with; nil when it came without one.
    package let author: UTF8Key?
    /// What it changed, in the order of the writes: each document once, with the net effect, and never nothing.
    package let changes: [DocumentChange]

    /// Makes a commit.
    package init(sequence: SequenceNumber, time: Timestamp, author: UTF8Key? = nil, changes: [DocumentChange]) {
        self.sequence = sequence
        self.time = time
        self.author = author
        self.changes = changes
    }
}

extension Commit {
    /// What it made of a document; nil when it did not change it.
    func change(of path: DocumentPath) -> DocumentChange? { changes.first { $0.path == path } }
}

/// What a commit made of one document.
package struct DocumentChange: Hashable, Sendable {
    /// The document's path.
    package let path: DocumentPath
    /// The document before the commit. Nil when it did not exist, and mostly also when the change was read back from the journal,
    /// which keeps what was before only of a document's first change in a segment.
    package let before: EncodedDocument?
    /// The document after the commit, or nil when the commit deleted it.
    package let after: EncodedDocument?
    /// Whether the document existed before the commit; known also when ``before`` is not.
    package let existedBefore: Bool

    /// Makes a change.
    package init(path: DocumentPath, before: EncodedDocument?, after: EncodedDocument?, existedBefore: Bool) {
        self.path = path
        self.before = before
        self.after = after
        self.existedBefore = existedBefore
    }
}
