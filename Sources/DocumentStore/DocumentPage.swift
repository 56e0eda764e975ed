package import DocumentModel

/// A page of a collection's documents in ID order.
package struct DocumentPage: Sendable {
    /// The documents.
    package let documents: [ListedDocument]
    /// The start of the next page, to be passed as `after`; `nil` on the last page.
    package let next: DocumentPath.ID?
    /// Errors for the files between these documents that are not readable as documents, each with its file location. The files
    /// are left unchanged. Those whose names are not valid IDs are on the first page.
    package let damaged: [StatusError]

    /// Creates a page.
    package init(documents: [ListedDocument], next: DocumentPath.ID?, damaged: [StatusError]) {
        self.documents = documents
        self.next = next
        self.damaged = damaged
    }
}

/// A page of the collections under a document in ID order.
package struct CollectionPage: Sendable {
    /// The collections.
    package let collections: [CollectionID]
    /// The start of the next page, to be passed as `after`; `nil` on the last page.
    package let next: CollectionID?
    /// Errors for the files and folders among these collections that are not collections, each with its file location; all are on
    /// the first page. The files are left unchanged.
    package let damaged: [StatusError]
    /// The database, set by callers that need it; `nil` for the server's default database.
    package var database: DatabaseID?

    /// Creates a page.
    package init(collections: [CollectionID], next: CollectionID?, damaged: [StatusError] = []) {
        self.collections = collections
        self.next = next
        self.damaged = damaged
    }
}
