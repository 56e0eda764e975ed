internal import UTF8Text

extension StructuredQuery {
    /// The collections that a query reads.
    package enum Source: Hashable, Sendable {
        /// A single collection.
        case collection(CollectionPath)
        /// All collections with a given ID, at any depth below a document, or below the root if `nil`.
        case collectionGroup(CollectionID, below: DocumentPath?)
        /// All collections, at any depth below a document, or below the root if `nil`.
        case descendants(of: DocumentPath?)
    }
}

extension StructuredQuery.Source {
    /// Returns whether a document is in the source.
    package func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .collection(let collection): path.collection == collection
        case .collectionGroup(let id, let parent): path.collection.id == id && path.isBelow(parent)
        case .descendants(let parent): path.isBelow(parent)
        }
    }

    /// Resolves a document name in a filter or cursor: an ID in a collection, otherwise a path relative to the parent.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if it is not a valid ID or path.
    func document(named name: String) throws(StatusError) -> DocumentPath {
        switch self {
        case .collection(let collection):
            collection.document(try DocumentPath.ID(name))
        case .collectionGroup(_, let parent), .descendants(let parent):
            try DocumentPath(parent.map { $0.string + "/" + name } ?? name)
        }
    }
}

extension DocumentPath {
    /// Returns whether the document is a descendant of another document, or of the root if `nil`.
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
