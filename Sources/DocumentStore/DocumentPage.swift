package import DocumentModel

/// A page of a collection's documents, in ID order.
package struct DocumentPage: Sendable {
    /// The documents.
    package let documents: [ListedDocument]
    /// Where the next page begins: pass it as `after`. Nil on the last page.
    package let next: DocumentID?
    /// What lies among these documents and can't be read as one, each with its file. It stays on disk untouched. Files and
    /// folders whose names are no ID's are on the first page.
    package let damaged: [StatusError]

    /// Makes a page.
    package init(documents: [ListedDocument], next: DocumentID?, damaged: [StatusError]) {
        self.documents = documents
        self.next = next
        self.damaged = damaged
    }
}

/// An entry of a ``DocumentPage``.
package enum ListedDocument: Hashable, Sendable {
    /// A document.
    case document(EncodedDocument)
    /// A document that doesn't exist but has documents below it.
    case missing(DocumentPath)

    /// Where the document is or would be.
    package var path: DocumentPath {
        switch self {
        case .document(let document): document.path
        case .missing(let path): path
        }
    }
}

/// A page of the collections under a document, in order of their IDs.
package struct CollectionPage: Sendable {
    /// The collections.
    package let collections: [CollectionID]
    /// Where the next page begins: pass it as `after`. Nil on the last page.
    package let next: CollectionID?
    /// What lies among these collections and is none, each with its place. It stays on disk untouched. All of it is on the first
    /// page.
    package let damaged: [StatusError]
    /// The database that they are in, where a caller has to know; nil for a server's default one.
    package var database: DatabaseID?

    /// Makes a page.
    package init(collections: [CollectionID], next: CollectionID?, damaged: [StatusError] = []) {
        self.collections = collections
        self.next = next
        self.damaged = damaged
    }
}
