package import DocumentModel
package import UTF8Text

/// The resource name of a document, of a collection, or of the root of a database's documents:
/// `projects/PROJECT/databases/DATABASE/documents[/IDS…]`.
package struct ResourceName: Sendable {
    /// The database.
    package let database: DatabaseName
    /// The IDs below the root of the documents.
    package let segments: [UTF8Key]

    /// Creates a name. The IDs are validated when they are used.
    package init(_ database: DatabaseName, _ segments: [UTF8Key]) {
        self.database = database
        self.segments = segments
    }

    /// Parses a name.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a name of another form.
    package init(_ text: String) throws(StatusError) {
        let parts = Self.parts(of: text)
        guard parts.count >= 5, parts[4] == "documents", let database = try DatabaseName(parts: parts.prefix(4)) else {
            throw StatusError(
                .invalidArgument,
                "Expected a name such as projects/PROJECT/databases/DATABASE/documents/COLLECTION/DOCUMENT, found "
                    + "\(Excerpt(text, maximumBytes: 200))."
            )
        }
        self.database = database
        segments = Array(parts.dropFirst(5))
    }

    fileprivate static func parts(of text: String) -> [UTF8Key] {
        text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { UTF8Key(String(Substring($0))) }
    }
}

extension ResourceName {
    /// Returns the path of the document.
    package func document() throws(StatusError) -> DocumentPath {
        guard case .document(let path) = try ResourcePath(segments) else {
            throw StatusError(.invalidArgument, "Expected a document path, found a collection path.")
        }
        return path
    }

    /// Returns the path of the parent document, or `nil` for the root.
    package func parent() throws(StatusError) -> DocumentPath? {
        segments.isEmpty ? nil : try document()
    }

    /// Returns the path of the collection.
    package func collection() throws(StatusError) -> CollectionPath {
        guard case .collection(let path) = try ResourcePath(segments) else {
            throw StatusError(.invalidArgument, "Expected a collection path, found a document path.")
        }
        return path
    }

    /// Returns the path of a collection in the document or root.
    package func collection(_ id: String) throws(StatusError) -> CollectionPath {
        CollectionPath(parent: try parent(), id: try CollectionID(id))
    }
}

extension DatabaseName {
    /// Parses the name of a database, `projects/PROJECT/databases/DATABASE`.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a name of another form.
    package init(_ text: String) throws(StatusError) {
        guard let name = try DatabaseName(parts: ResourceName.parts(of: text)[...]) else {
            throw StatusError(
                .invalidArgument,
                "Expected a name such as projects/PROJECT/databases/DATABASE, found \(Excerpt(text, maximumBytes: 200))."
            )
        }
        self = name
    }

    /// Creates a name from its parts, or returns `nil` if they have another form.
    fileprivate init?(parts: ArraySlice<UTF8Key>) throws(StatusError) {
        guard parts.count == 4, parts[0] == "projects", parts[2] == "databases", parts[1].byteCount > 0, parts[3].byteCount > 0
        else { return nil }
        self.init(try DatabaseID(project: parts[1], database: parts[3]))
    }
}
