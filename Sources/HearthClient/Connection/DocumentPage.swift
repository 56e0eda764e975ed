public import DocumentModel
internal import StrictJSON

/// A page of a collection's documents, in the order of their ids.
public struct DocumentPage: Sendable {
    /// The documents, and the missing ones where they were asked for.
    public let documents: [ListedDocument]
    /// What asks for the next page; nil on the last one.
    public let nextPageToken: String?
    /// The files and folders that are there but can't be read as documents, each with what is wrong and where.
    public let damaged: [StatusError]
}

/// One entry of a listing.
public enum ListedDocument: Hashable, Sendable {
    /// A document.
    case document(EncodedDocument)
    /// There is no document of that path, but there are some below it.
    case missing(DocumentPath)

    /// Where it is.
    public var path: DocumentPath {
        switch self {
        case .document(let document): document.path
        case .missing(let path): path
        }
    }
}

/// A page of the collections under a document or at the root, in the order of their ids.
public struct CollectionPage: Sendable {
    /// The ids of the collections.
    public let collections: [CollectionID]
    /// What asks for the next page; nil on the last one.
    public let nextPageToken: String?
    /// The files and folders that are there but are no collections, each with what is wrong and where.
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
            guard let id = json.string else { throw .unreadable(json, expected: "a collection id") }
            return try CollectionID(id)
        }
        nextPageToken = json["nextPageToken"]?.string
        damaged = json.damaged
    }
}

extension JSONNode {
    /// What a page says can't be read.
    var damaged: [StatusError] {
        self["damaged"]?.elements.map { $0.map(StatusError.init(damaged:)) } ?? []
    }
}
