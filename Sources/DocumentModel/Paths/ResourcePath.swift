package import UTF8Text

/// The path of a collection or a document, depending on the number of segments.
package enum ResourcePath: Hashable, Sendable {
    case collection(CollectionPath)
    case document(DocumentPath)

    /// Parses a path.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if the path is invalid.
    package init(_ text: String) throws(StatusError) {
        let slashes = text.utf8.count { $0 == UInt8(ascii: "/") }
        self = slashes.isMultiple(of: 2) ? .collection(try CollectionPath(text)) : .document(try DocumentPath(text))
    }

    /// Creates a path from its IDs.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if an ID is invalid or contains a slash.
    package init(_ segments: [UTF8Key]) throws(StatusError) {
        let text = segments.map(\.string).joined(separator: "/")
        if segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) {
            throw StatusError(
                .invalidArgument,
                "An ID cannot contain a slash, not even as %2F in a URL.",
                path: Excerpt(text).text
            )
        }
        try self.init(text)
    }

    /// The path as text, such as `books/hitchhiker`.
    package var string: String {
        switch self {
        case .collection(let path): path.string
        case .document(let path): path.string
        }
    }
}
