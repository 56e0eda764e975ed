internal import StrictJSON

extension Query {
    /// Where the documents of a query are.
    package enum Source: Hashable, Sendable {
        /// Directly in a collection.
        case collection(CollectionPath)
        /// In all collections of an id, at any depth below a document, or below the root when nil.
        case collectionGroup(CollectionID, below: DocumentPath?)
        /// In all collections whatever, at any depth below a document, or below the root when nil.
        case descendants(of: DocumentPath?)
    }
}

extension Query.Source {
    /// Whether a document belongs to the source.
    package func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .collection(let collection): path.collection == collection
        case .collectionGroup(let id, let parent): path.collection.id == id && path.isBelow(parent)
        case .descendants(let parent): path.isBelow(parent)
        }
    }

    /// The document that a text names in filters and cursors on the document's name: an id in a collection, else a path
    /// relative to the parent.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it is no such id or path.
    func document(named name: String) throws(StatusError) -> DocumentPath {
        switch self {
        case .collection(let collection):
            collection.document(try DocumentID(name))
        case .collectionGroup(_, let parent), .descendants(let parent):
            try DocumentPath(parent.map { $0.string + "/" + name } ?? name)
        }
    }
}

extension DocumentPath {
    /// Whether the document is in a collection below another document; all are below nil, the root.
    fileprivate func isBelow(_ ancestor: DocumentPath?) -> Bool {
        guard let ancestor else { return true }
        var text = collection.string.utf8[...]
        for part in [ancestor.collection.string, "/", ancestor.id.key.string, "/"] {
            guard text.starts(with: part.utf8) else { return false }
            text = text.dropFirst(part.utf8.count)
        }
        return true
    }
}
