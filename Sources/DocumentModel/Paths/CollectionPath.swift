public import StrictJSON

/// Where a collection is in the database: `books`, or `books/hitchhiker/reviews` below a document.
///
/// It always has an odd number of segments. Copying, hashing and comparing for equality cost about as much as for its text.
public struct CollectionPath: Hashable, Sendable {
    /// All segments with slashes between them.
    let text: UTF8Key

    /// Reads a path.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it has an even number of segments, an empty or forbidden id, more
    ///   than 6 KiB, or more than 100 collections.
    public init(_ string: String) throws(StatusError) {
        text = try PathSegments.parse(string, as: .collection)
    }

    /// The collection `id` below a document, or at the top of the database.
    ///
    /// Nothing is checked here: length and depth are when a document is written, by ``Document/validate(_:at:)``.
    public init(parent: DocumentPath?, id: CollectionID) {
        text = parent.map { UTF8Key($0.string + "/" + id.key.string) } ?? id.key
    }

    /// For the beginning of a path that was checked.
    init(unchecked text: UTF8Key) {
        self.text = text
    }

    /// The document that the collection belongs to; nil at the top of the database.
    public var parent: DocumentPath? {
        lastSlash.map { DocumentPath(unchecked: text.utf8[..<$0]) }
    }

    /// The collection's own name: the last segment.
    public var id: CollectionID {
        guard let slash = lastSlash else { return CollectionID(unchecked: text) }
        return CollectionID(unchecked: UTF8Key(Substring(text.utf8[text.utf8.index(after: slash)...])))
    }

    /// All ids from the top of the database down: collection, document, …, collection.
    public var segments: [UTF8Key] {
        PathSegments(text).map { UTF8Key(Substring($0)) }
    }

    /// The path as a text, such as `books/hitchhiker/reviews`.
    public var string: String { text.string }

    /// The path of a document in this collection.
    public func document(_ id: DocumentID) -> DocumentPath {
        DocumentPath(collection: self, id: id)
    }

    private var lastSlash: String.Index? {
        text.utf8.lastIndex(of: UInt8(ascii: "/"))
    }
}

extension CollectionPath: Comparable, CustomStringConvertible {
    /// Whether `left` comes first: segment by segment in the order of ids, the shorter first on a common prefix.
    public static func < (left: CollectionPath, right: CollectionPath) -> Bool {
        Comparison(PathSegments(left.text), PathSegments(right.text), by: Identifier.compare) == .less
    }

    /// The path as a text.
    public var description: String { string }
}
