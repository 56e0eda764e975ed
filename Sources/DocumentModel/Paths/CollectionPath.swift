public import UTF8Text

/// The path of a collection in the database: `books`, or `books/hitchhiker/reviews` below a document.
///
/// It has an odd number of segments. Copying, hashing and equality cost about as much as for a string.
public struct CollectionPath: Hashable, Sendable {
    /// The segments, separated by slashes.
    let text: UTF8Key

    /// Parses a path.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if it has an even number of segments, an invalid ID, or more than 100
    ///   collections, or is longer than 6 KiB.
    public init(_ string: String) throws(StatusError) {
        text = try PathSegmentSequence.parse(string, as: .collection)
    }

    /// Creates the path of a subcollection of a document, or of a root collection if `parent` is `nil`.
    ///
    /// Length and depth are not validated here, but on write, by ``Document/validate(_:at:)``.
    public init(parent: DocumentPath?, id: CollectionID) {
        text = parent.map { UTF8Key($0.string + "/" + id.key.string) } ?? id.key
    }

    /// Creates a path from a prefix of validated text.
    init(unchecked text: UTF8Key) {
        self.text = text
    }

    /// The parent document; `nil` for a root collection.
    public var parent: DocumentPath? {
        lastSlash.map { DocumentPath(unchecked: text.utf8[..<$0]) }
    }

    /// The collection ID: the last segment.
    public var id: CollectionID {
        guard let slash = lastSlash else { return CollectionID(unchecked: text) }
        return CollectionID(unchecked: UTF8Key(Substring(text.utf8[text.utf8.index(after: slash)...])))
    }

    /// The IDs from the root of the database: collection, document, …, collection.
    public var segments: [UTF8Key] {
        PathSegmentSequence(text).map { UTF8Key(Substring($0)) }
    }

    /// The path as text, such as `books/hitchhiker/reviews`.
    public var string: String { text.string }

    /// Returns the path of a document in this collection.
    public func document(_ id: DocumentPath.ID) -> DocumentPath {
        DocumentPath(collection: self, id: id)
    }

    private var lastSlash: String.Index? {
        text.utf8.lastIndex(of: UInt8(ascii: "/"))
    }
}

extension CollectionPath: Comparable, CustomStringConvertible {
    /// Returns whether `left` sorts before `right`: segment by segment in the order of IDs; a prefix sorts first.
    public static func < (left: CollectionPath, right: CollectionPath) -> Bool {
        Comparison(PathSegmentSequence(left.text), PathSegmentSequence(right.text), by: Identifier.compare) == .less
    }

    /// The path as text.
    public var description: String { string }
}
