package import DocumentModel
package import UTF8Text

/// The resource name of a database: `projects/PROJECT/databases/DATABASE`.
package struct DatabaseName: Hashable, Sendable {
    /// The database.
    package let id: DatabaseID

    /// The resource name.
    package var text: String { "projects/\(id.project.string)/databases/\(id.database.string)" }

    /// The prefix of its documents' names, `projects/PROJECT/databases/DATABASE/documents`.
    package let root: UTF8Key

    package init(_ id: DatabaseID) {
        self.id = id
        root = UTF8Key("projects/\(id.project.string)/databases/\(id.database.string)/documents")
    }

    /// Returns the resource name of a document.
    package func name(of path: DocumentPath) -> String {
        root.string + "/" + path.string
    }

    /// Returns the path of the document with a resource name.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a name in another database or of another resource type.
    package func document(named name: String) throws(StatusError) -> DocumentPath {
        try DocumentPath(relativePath(of: name))
    }

    /// Returns a resource name relative to the database root.
    package func relativePath(of name: String) throws(StatusError) -> String {
        guard name.utf8.starts(with: root.utf8), name.utf8.dropFirst(root.byteCount).first == UInt8(ascii: "/") else {
            throw StatusError(
                .invalidArgument,
                "Expected the name of a document in this database, \(root.string)/COLLECTION/DOCUMENT, found "
                    + "\(Excerpt(name, maximumBytes: 200))."
            )
        }
        return String(Substring(name.utf8.dropFirst(root.byteCount + 1)))
    }
}
