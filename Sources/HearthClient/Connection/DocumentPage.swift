public import DocumentModel
internal import StrictJSON
internal import UTF8Text

/// A page of the documents in a collection, ordered by ID.
public struct DocumentPage: Sendable {
    /// The documents, including missing documents if requested.
    public let documents: [ListedDocument]
    /// The token of the next page; `nil` on the last page.
    public let nextPageToken: String?
    /// Errors for files and folders in the collection that can't be read as documents.
    public let damaged: [StatusError]
}

/// An entry of a document listing.
public enum ListedDocument: Hashable, Sendable {
    /// An existing document.
    case document(EncodedDocument)
    /// A missing document: it doesn't exist, but has subcollections.
    case missing(DocumentPath)

    /// The document path.
    public var path: DocumentPath {
        switch self {
        case .document(let document): document.path
        case .missing(let path): path
        }
    }
}

/// A page of the root collections or of the subcollections of a document, ordered by ID.
public struct CollectionPage: Sendable {
    /// The collection IDs.
    public let collections: [CollectionID]
    /// The token of the next page; `nil` on the last page.
    public let nextPageToken: String?
    /// Errors for files and folders that are not collections.
    public let damaged: [StatusError]
}

extension DocumentPage {
    init(rpc json: JSONNode) throws(StatusError) {
        documents = try json.array("documents").map { json throws(StatusError) in try ListedDocument(rpc: json) }
        nextPageToken = json["nextPageToken"]?.string
        damaged = json.damaged
    }
}

extension ListedDocument {
    init(rpc json: JSONNode) throws(StatusError) {
        self = json["fields"] == nil ? .missing(try DocumentPath(json.string("path"))) : .document(try EncodedDocument(rpc: json))
    }
}

extension CollectionPage {
    init(rpc json: JSONNode) throws(StatusError) {
        collections = try json.array("collections").map { json throws(StatusError) in
            guard let id = json.string else { throw .malformedResponse(json, expected: "a collection ID") }
            return try CollectionID(id)
        }
        nextPageToken = json["nextPageToken"]?.string
        damaged = json.damaged
    }
}

extension JSONNode {
    /// The errors in the `damaged` member of a page.
    var damaged: [StatusError] {
        self["damaged"]?.elements.map { $0.map(StatusError.init(damaged:)) } ?? []
    }
}
