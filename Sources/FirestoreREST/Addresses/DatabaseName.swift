package import DocumentModel
package import StrictJSON

/// Names a database as Firestore's resource names do: `projects/PROJECT/databases/DATABASE`.
package struct DatabaseName: Hashable, Sendable {
    /// The database.
    package let id: DatabaseID

    /// What the names of all its documents begin with, up to the slash before the first collection.
    package let root: UTF8Key

    package init(_ id: DatabaseID) {
        self.id = id
        root = UTF8Key("projects/\(id.project.string)/databases/\(id.database.string)/documents")
    }

    /// The resource name of a document.
    package func name(of path: DocumentPath) -> String {
        root.string + "/" + path.string
    }

    /// The document that a resource name names.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a name of another database, and for one that is no document's.
    func document(named name: String) throws(StatusError) -> DocumentPath {
        try DocumentPath(relativePath(of: name))
    }

    /// What a resource name says below the database's root.
    func relativePath(of name: String) throws(StatusError) -> String {
        guard name.utf8.starts(with: root.utf8), name.utf8.dropFirst(root.byteCount).first == UInt8(ascii: "/") else {
            throw StatusError(
                .invalidArgument,
                "Expected the name of a document of this database, \(root.string)/COLLECTION/DOCUMENT, found "
                    + "\(Excerpt(name, maximumBytes: 200))."
            )
        }
        return String(Substring(name.utf8.dropFirst(root.byteCount + 1)))
    }
}
