internal import DocumentModel

/// The mapping between the document paths of a query's source and their names in the index.
struct NameKeyMapping: Sendable {
    /// The target of index scans.
    let target: IndexTarget
    /// The collection ID; `nil` for a query of all documents.
    let collection: CollectionID?
    /// The prefix of path keys that the names omit.
    private let prefix: [UInt8]

    init(_ source: StructuredQuery.Source) {
        switch source {
        case .collection(let path):
            target = .collection(path)
            collection = path.id
            prefix = NameKey(path).bytes
        case .collectionGroup(let id, let parent):
            target = .group(id, below: parent)
            collection = id
            prefix = []
        case .descendants(let parent):
            target = .all(below: parent)
            collection = nil
            prefix = []
        }
    }

    /// Returns the path of the document with a name; `nil` if the name is invalid.
    func path(_ name: some Collection<UInt8>) -> DocumentPath? {
        switch target {
        case .collection(let collection): DocumentPath.ID(nameKey: name).map { collection.document($0) }
        case .group, .all: DocumentPath(nameKey: name)
        }
    }

    /// Returns the name of a document; for a path outside the source, the lowest name that sorts after it.
    func name(of path: DocumentPath) -> [UInt8] {
        let bytes = NameKey(path).bytes
        if bytes.starts(with: prefix) { return Array(bytes.dropFirst(prefix.count)) }
        return bytes.lexicographicallyPrecedes(prefix) ? [] : [0xff]
    }

    /// Returns the range of names for a range of document references.
    func range(_ range: ValueRange) -> Range<NameBound> {
        var (lower, upper): ([UInt8], [UInt8]) = ([], [0xff])
        if let bound = range.lower, case .reference(let path) = bound.value {
            lower = name(of: path) + (bound.isInclusive ? [] : [0])
        }
        if let bound = range.upper, case .reference(let path) = bound.value {
            upper = name(of: path) + (bound.isInclusive ? [0] : [])
        }
        return Range(from: lower, to: upper)
    }
}
