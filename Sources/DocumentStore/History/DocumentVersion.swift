package import DocumentModel
package import StrictJSON

/// A document as one commit left it.
package struct DocumentVersion: Hashable, Sendable {
    /// The commit's time.
    package let commitTime: Timestamp
    /// The document, or nil when the commit deleted it.
    package let document: EncodedDocument?

    /// The ID of the key that the commit came with; nil when it came without one, or is not kept any more.
    package let author: UTF8Key?

    /// Makes a version.
    package init(commitTime: Timestamp, document: EncodedDocument?, author: UTF8Key? = nil) {
        self.commitTime = commitTime
        self.author = author
        self.document = document
    }
}

/// A page of a document's versions, the newest first.
package struct VersionPage: Hashable, Sendable {
    /// The versions.
    package let versions: [DocumentVersion]
    /// Where the next page begins: pass it as `before`. Nil when no older version is kept.
    package let next: Timestamp?
    /// The database that they are in, where a caller has to know; nil for a server's default one.
    package var database: DatabaseID?

    /// Makes a page.
    package init(versions: [DocumentVersion], next: Timestamp?) {
        self.versions = versions
        self.next = next
    }
}
