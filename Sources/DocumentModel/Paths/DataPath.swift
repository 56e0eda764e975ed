package import StrictJSON

/// A path of the database, which its number of segments makes a collection's or a document's.
package enum DataPath: Hashable, Sendable {
    case collection(CollectionPath)
    case document(DocumentPath)

    /// Reads a path as text.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when it breaks a rule of paths.
    package init(_ text: String) throws(StatusError) {
        let slashes = text.utf8.count { $0 == UInt8(ascii: "/") }
        self = slashes.isMultiple(of: 2) ? .collection(try CollectionPath(text)) : .document(try DocumentPath(text))
    }

    /// Takes the IDs in turn.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when one breaks a rule, one with a slash among them.
    package init(_ segments: [UTF8Key]) throws(StatusError) {
        let text = segments.map(\.string).joined(separator: "/")
        if segments.contains(where: { $0.utf8.contains(UInt8(ascii: "/")) }) {
            throw StatusError(
                .invalidArgument,
                "An ID can't contain a slash, in a URL not as %2F either.",
                path: Excerpt(text).text
            )
        }
        try self.init(text)
    }

    /// The path as a text, such as `books/hitchhiker`.
    package var string: String {
        switch self {
        case .collection(let path): path.string
        case .document(let path): path.string
        }
    }
}
