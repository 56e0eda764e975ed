package import UTF8Text

/// The ID of a database on a server: a project ID and a database ID.
///
/// In text form it is `project/database`, or the database ID alone in the server's own project. Both are 1 to 80 bytes of
/// UTF-8 without slashes or NUL, not `.` or `..`, and compare by bytes.
package struct DatabaseID: Hashable, Sendable {
    /// The project ID.
    package let project: UTF8Key
    /// The database ID.
    package let database: UTF8Key

    private static let defaultProject: UTF8Key = "hearth"
    /// The ID of the default database, which exists in every project.
    package static let defaultDatabase: UTF8Key = "(default)"
    /// The maximum length of an ID in bytes. Even with every byte escaped, it fits in a folder name.
    package static let maximumNameBytes = 80

    /// Creates a database ID.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` if either ID is invalid.
    package init(project: UTF8Key, database: UTF8Key = defaultDatabase) throws(StatusError) {
        try Self.validate(project, as: "project ID")
        try Self.validate(database, as: "database ID")
        self.init(unchecked: project, database)
    }

    private init(unchecked project: UTF8Key, _ database: UTF8Key) {
        self.project = project
        self.database = database
    }

    /// The default database of the default project.
    package static let standard = DatabaseID(unchecked: defaultProject, defaultDatabase)

    /// Parses a database ID.
    ///
    /// - Parameters:
    ///   - text: `project/database`, or the database ID alone.
    ///   - project: The project ID if the text has none.
    package init(_ text: String, inProject project: UTF8Key) throws(StatusError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), maxSplits: 1, omittingEmptySubsequences: false)
        let names = parts.map { UTF8Key(Substring($0)) }
        if names.count == 1 {
            try self.init(project: project, database: names[0])
        } else {
            try self.init(project: names[0], database: names[1])
        }
    }

    private static func validate(_ name: UTF8Key, as kind: String) throws(StatusError) {
        let reason: String? =
            if name.byteCount == 0 {
                "is empty. Use 1 to \(maximumNameBytes) bytes."
            } else if name.byteCount > maximumNameBytes {
                "is \(name.byteCount) bytes long; the maximum is \(maximumNameBytes). Shorten it."
            } else if name.utf8.contains(UInt8(ascii: "/")) {
                "contains a slash, which separates the project from the database. Use another character."
            } else if name.utf8.contains(0) {
                "contains a NUL character. Remove it."
            } else if name == "." || name == ".." {
                "is not allowed, because it denotes a folder. Use another ID."
            } else {
                nil
            }
        guard let reason else { return }
        throw StatusError(.invalidArgument, "The \(kind) \(Excerpt(name.string)) \(reason)")
    }
}

extension DatabaseID: Comparable, CustomStringConvertible {
    /// Returns whether `left` sorts before `right`: by the bytes of the project ID, then of the database ID.
    package static func < (left: DatabaseID, right: DatabaseID) -> Bool {
        (left.project, left.database) < (right.project, right.database)
    }

    /// The ID as `project/database`.
    package var description: String { "\(project.string)/\(database.string)" }
}
