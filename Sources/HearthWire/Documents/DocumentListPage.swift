public import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of a page of a list.
package enum PageKeys {
    package static let documents: UTF8Key = "documents"
    package static let collections: UTF8Key = "collections"
    package static let nextPageToken: UTF8Key = "nextPageToken"
}

/// A page of the documents in a collection, ordered by ID.
public struct DocumentListPage: Sendable {
    /// The documents, including missing documents if requested.
    public let documents: [ListedDocument]
    /// The token of the next page; `nil` on the last page.
    public let nextPageToken: String?
    /// Errors for files and folders in the collection that cannot be read as documents.
    public let damaged: [StatusError]

    /// Creates a page.
    package init(documents: [ListedDocument], nextPageToken: String?, damaged: [StatusError]) {
        self.documents = documents
        self.nextPageToken = nextPageToken
        self.damaged = damaged
    }
}

extension DocumentListPage {
    /// Writes `{"documents": […], "nextPageToken"?: …, "damaged"?: […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(PageKeys.documents, of: documents) { $0.write(to: &$1) }
        if let nextPageToken { writer.member(PageKeys.nextPageToken, nextPageToken) }
        writer.damaged(damaged)
        writer.endObject()
    }

    /// Parses a page.
    ///
    /// - Throws: `.internal` if the documents are missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        documents = try json.array(PageKeys.documents).map { json throws(StatusError) in try ListedDocument(json: json) }
        nextPageToken = json[PageKeys.nextPageToken]?.string
        damaged = json.damaged
    }
}
