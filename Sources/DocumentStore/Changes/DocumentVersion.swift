package import DocumentModel
package import UTF8Text

/// A version of a document, written by one commit.
package struct DocumentVersion: Hashable, Sendable {
    /// The commit's time.
    package let commitTime: Timestamp
    /// The document; `nil` if the commit deleted it.
    package let document: EncodedDocument?
    /// The ID of the API key used for the commit; `nil` if there was none, or the commit is no longer retained.
    package let author: UTF8Key?

    /// Creates a version.
    package init(commitTime: Timestamp, document: EncodedDocument?, author: UTF8Key? = nil) {
        self.commitTime = commitTime
        self.author = author
        self.document = document
    }
}

/// A page of a document's versions, newest first.
package struct VersionPage: Hashable, Sendable {
    /// The versions.
    package let versions: [DocumentVersion]
    /// The start of the next page, to be passed as `before`; `nil` if no older version is retained.
    package let next: Timestamp?
    /// The database, set by callers that need it; `nil` for the server's default database.
    package var database: DatabaseID?

    /// Creates a page.
    package init(versions: [DocumentVersion], next: Timestamp?) {
        self.versions = versions
        self.next = next
    }
}
