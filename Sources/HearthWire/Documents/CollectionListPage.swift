public import DocumentModel
package import StrictJSON
import UTF8Text

/// A page of the root collections or of the subcollections of a document, ordered by ID.
public struct CollectionListPage: Sendable {
    /// The collection IDs.
    public let collections: [CollectionID]
    /// The token of the next page; `nil` on the last page.
    public let nextPageToken: String?
    /// Errors for files and folders that are not collections.
    public let damaged: [StatusError]

    /// Creates a page.
    package init(collections: [CollectionID], nextPageToken: String?, damaged: [StatusError]) {
        self.collections = collections
        self.nextPageToken = nextPageToken
        self.damaged = damaged
    }
}

extension CollectionListPage {
    /// Writes `{"collections": […], "nextPageToken"?: …, "damaged"?: […]}`.
    package func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.array(PageKeys.collections, of: collections) { $1.string($0.key.string) }
        if let nextPageToken { writer.member(PageKeys.nextPageToken, nextPageToken) }
        writer.damaged(damaged)
        writer.endObject()
    }

    /// Parses a page.
    ///
    /// - Throws: `.internal` if the collections are missing, or the error of an invalid ID.
    package init(json: JSONNode) throws(StatusError) {
        collections = try json.array(PageKeys.collections).map { json throws(StatusError) in
            guard let id = json.string else { throw .malformedResponse(json, expected: "a collection ID") }
            return try CollectionID(id)
        }
        nextPageToken = json[PageKeys.nextPageToken]?.string
        damaged = json.damaged
    }
}
