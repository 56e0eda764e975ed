public import StrictJSON

/// Where a document is in the database: `books/hitchhiker`.
///
/// It always has an even number of segments. The collection and the id are at hand without cutting the text, and paths
/// of one collection share its text.
public struct DocumentPath: Hashable, Sendable {
    /// The collection that the document is in.
    public let collection: CollectionPath
    /// The document's own name: the last segment.
    public let id: DocumentID

    /// Reads a path.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it has an odd number of segments, an empty or forbidden id, more
    ///   than 6 KiB, or more than 100 collections.
    public init(_ string: String) throws(StatusError) {
        let text = try PathSegments.parse(string, as: .document)
        self.init(unchecked: text.utf8[...])
    }

    /// The document `id` in a collection.
    ///
    /// Nothing is checked here: length and depth are when a document is written, by ``Document/validate(_:at:)``.
    public init(collection: CollectionPath, id: DocumentID) {
        self.collection = collection
        self.id = id
    }

    /// For a text that was checked: an even number of segments.
    init(unchecked text: Substring.UTF8View) {
        guard let slash = text.lastIndex(of: UInt8(ascii: "/")) else {
            preconditionFailure("a document path has at least two segments")
        }
        collection = CollectionPath(unchecked: UTF8Key(Substring(text[..<slash])))
        id = DocumentID(unchecked: UTF8Key(Substring(text[text.index(after: slash)...])))
    }

    /// All ids from the top of the database down: collection, document, ….
    public var segments: [UTF8Key] {
        collection.segments + [id.key]
    }

    /// The path as a text, such as `books/hitchhiker`.
    public var string: String {
        collection.string + "/" + id.key.string
    }

    /// The path of a collection below this document.
    public func collection(_ id: CollectionID) -> CollectionPath {
        CollectionPath(parent: self, id: id)
    }

    /// Checks the limits of a path that was put together from parts.
    func validateLimits() throws(StatusError) {
        try PathSegments.validateLength(collection.text.byteCount + 1 + id.key.byteCount)
        try PathSegments.validateDepth(ofSegments: pathSegments.reduce(0) { count, _ in count + 1 })
    }
}

extension DocumentPath: Comparable, CustomStringConvertible {
    /// Whether `left` comes first: segment by segment in the order of ids, the shorter first on a common prefix.
    public static func < (left: DocumentPath, right: DocumentPath) -> Bool {
        left.compared(to: right) == .less
    }

    /// The order of paths, which is that of reference values.
    func compared(to other: DocumentPath) -> Comparison {
        if collection == other.collection { return Identifier.compare(id.key.utf8[...], other.id.key.utf8[...]) }
        return Comparison(pathSegments, other.pathSegments, by: Identifier.compare)
    }

    /// The ids as slices, without copying.
    var pathSegments: PathSegments {
        PathSegments(collection.text, and: id.key)
    }

    /// The path as a text.
    public var description: String { string }
}
