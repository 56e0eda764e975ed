package import DocumentModel
package import UTF8Text

/// A bundle of documents and results of queries, which somebody has read from a server, for the cache.
package struct DocumentBundle: Sendable {
    /// The properties of the bundle.
    package let metadata: BundleMetadata
    /// The named queries.
    package let queries: [BundledQuery]
    /// The documents, each at most once.
    package let documents: [BundledDocument]

    /// Creates a bundle.
    package init(metadata: BundleMetadata, queries: [BundledQuery], documents: [BundledDocument]) {
        self.metadata = metadata
        self.queries = queries
        self.documents = documents
    }
}

/// The properties of a bundle.
package struct BundleMetadata: Hashable, Sendable {
    /// The ID: a newer bundle with the ID takes the place of an older one.
    package let id: UTF8Key
    /// The time at which the bundle was made.
    package let createTime: Timestamp
    /// The number of documents, absent ones included.
    package let documentCount: Int
    /// The size in bytes of all elements after the first one.
    package let byteCount: Int

    /// Creates the properties.
    package init(id: UTF8Key, createTime: Timestamp, documentCount: Int, byteCount: Int) {
        self.id = id
        self.createTime = createTime
        self.documentCount = documentCount
        self.byteCount = byteCount
    }
}

/// A named query of a bundle.
package struct BundledQuery: Sendable {
    /// The query as the cache keeps it.
    package let named: NamedQuery
    /// The view of the query.
    package let view: ViewQuery

    /// Creates a query.
    package init(_ named: NamedQuery, view: ViewQuery) {
        self.named = named
        self.view = view
    }
}

/// A query that is kept by its name.
package struct NamedQuery: Hashable, Sendable {
    /// The name.
    package let name: UTF8Key
    /// The time of the result in the bundle.
    package let readTime: Timestamp
    /// The query as JSON text, in the form of bundles.
    package let definition: [UInt8]

    /// Creates a query.
    package init(name: UTF8Key, readTime: Timestamp, definition: [UInt8]) {
        self.name = name
        self.readTime = readTime
        self.definition = definition
    }
}

/// A document of a bundle.
package struct BundledDocument: Sendable {
    /// The document, or its absence.
    package let document: RemoteDocument
    /// The names of the queries that the document is in the result of.
    package let queries: Set<UTF8Key>

    /// Creates a document.
    package init(_ document: RemoteDocument, queries: Set<UTF8Key>) {
        self.document = document
        self.queries = queries
    }
}
