internal import DocumentModel

/// The names of a query's documents as the index has them.
struct QueryNames: Sendable {
    /// What the index is asked about.
    let target: IndexTarget
    /// The ID of the collections; nil when they may have any.
    let collection: CollectionID?
    /// What stands before the names in the keys of whole paths.
    private let prefix: [UInt8]

    init(_ source: Query.Source) {
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

    /// The document with a name; nil when it is none.
    func path(_ name: some Collection<UInt8>) -> DocumentPath? {
        switch target {
        case .collection(let collection): DocumentID(nameKey: name).map { collection.document($0) }
        case .group, .all: DocumentPath(nameKey: name)
        }
    }

    /// Where a path stands among the names: its own name, or for one that can't be among them the least bytes behind it.
    func place(of path: DocumentPath) -> [UInt8] {
        let bytes = NameKey(path).bytes
        if bytes.starts(with: prefix) { return Array(bytes.dropFirst(prefix.count)) }
        return bytes.lexicographicallyPrecedes(prefix) ? [] : [0xff]
    }

    /// The names that a range of paths leaves.
    func range(_ range: ValueRange) -> Range<NameBound> {
        var (lower, upper): ([UInt8], [UInt8]) = ([], [0xff])
        if let bound = range.lower, case .reference(let path) = bound.value {
            lower = place(of: path) + (bound.isInclusive ? [] : [0])
        }
        if let bound = range.upper, case .reference(let path) = bound.value {
            upper = place(of: path) + (bound.isInclusive ? [0] : [])
        }
        return Range(from: lower, to: upper)
    }
}

extension Range<NameBound> {
    /// All names.
    static let allNames = NameBound([])..<NameBound([0xff])

    /// The names between two bounds; none when they are the wrong way round.
    init(from lower: [UInt8], to upper: [UInt8]) {
        let lower = NameBound(lower)
        self = lower..<Swift.max(lower, NameBound(upper))
    }

    /// One name.
    init(name: [UInt8]) {
        self.init(from: name, to: name + [0])
    }
}
