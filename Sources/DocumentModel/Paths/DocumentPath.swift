public import UTF8Text

/// The path of a document in the database, such as `books/hitchhiker`.
///
/// It has an even number of segments. The collection and the ID are stored separately, and paths in one collection share
/// the collection's text.
public struct DocumentPath: Hashable, Sendable {
    /// The collection that contains the document.
    public let collection: CollectionPath
    /// The document ID: the last segment.
    public let id: DocumentPath.ID

    /// Parses a path.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if it has an odd number of segments, an invalid ID, or more than 100
    ///   collections, or is longer than 6 KiB.
    public init(_ string: String) throws(StatusError) {
        let text = try PathSegmentSequence.parse(string, as: .document)
        self.init(unchecked: text.utf8[...])
    }

    /// Creates the path of a document in a collection.
    ///
    /// Length and depth are not validated here, but on write, by ``Document/validate(_:at:)``.
    public init(collection: CollectionPath, id: DocumentPath.ID) {
        self.collection = collection
        self.id = id
    }

    /// Creates a path from validated text with an even number of segments.
    init(unchecked text: Substring.UTF8View) {
        guard let slash = text.lastIndex(of: UInt8(ascii: "/")) else {
            preconditionFailure("a document path has at least two segments")
        }
        collection = CollectionPath(unchecked: UTF8Key(Substring(text[..<slash])))
        id = DocumentPath.ID(unchecked: UTF8Key(Substring(text[text.index(after: slash)...])))
    }

    /// The IDs from the root of the database: collection, document, ….
    public var segments: [UTF8Key] {
        collection.segments + [id.key]
    }

    /// The path as text, such as `books/hitchhiker`.
    public var string: String {
        collection.string + "/" + id.key.string
    }

    /// Returns the path of a subcollection.
    public func collection(_ id: CollectionID) -> CollectionPath {
        CollectionPath(parent: self, id: id)
    }

    /// Validates the length and depth of a path that was built from components.
    func validateLimits() throws(StatusError) {
        try PathSegmentSequence.validateLength(collection.text.byteCount + 1 + id.key.byteCount)
        try PathSegmentSequence.validateDepth(ofSegments: pathSegments.reduce(0) { count, _ in count + 1 })
    }
}

extension DocumentPath: Comparable, CustomStringConvertible {
    /// Returns whether `left` sorts before `right`: segment by segment in the order of IDs; a prefix sorts first.
    public static func < (left: DocumentPath, right: DocumentPath) -> Bool {
        left.compared(to: right) == .less
    }

    /// Compares two paths in the order of reference values.
    func compared(to other: DocumentPath) -> Comparison {
        if collection == other.collection { return Identifier.compare(id.key.utf8[...], other.id.key.utf8[...]) }
        return Comparison(pathSegments, other.pathSegments, by: Identifier.compare)
    }

    /// The IDs as slices, without copying.
    var pathSegments: PathSegmentSequence {
        PathSegmentSequence(collection.text, and: id.key)
    }

    /// The path as text.
    public var description: String { string }
}

extension DocumentPath {
    /// The complete path for messages, with invisible and bidirectional characters escaped.
    package var escapedString: String {
        Excerpt(string, maximumBytes: .max).text
    }
}
