package import StrictJSON

/// Names a database of a server: a project, and a database in it.
///
/// As text it is `project/database`, or the name of the database alone where the project is the server's own. Both names are
/// 1 to 80 bytes of UTF-8 without slash and NUL, and not `.` or `..`; they are their bytes.
package struct DatabaseID: Hashable, Sendable {
    /// The project.
    package let project: UTF8Key
    /// The database.
    package let database: UTF8Key

    private static let defaultProject: UTF8Key = "hearth"
    /// The name of the database that every project has without its being made.
    package static let defaultDatabase: UTF8Key = "(default)"
    /// How long a name may be: so long that, however it is escaped, it is the name of a folder.
    package static let maximumNameBytes = 80

    /// Makes an ID.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` when a name breaks a rule.
    package init(project: UTF8Key, database: UTF8Key = defaultDatabase) throws(StatusError) {
        try Self.validate(project, as: "name of the project")
        try Self.validate(database, as: "name of the database")
        self.init(unchecked: project, database)
    }

    private init(unchecked project: UTF8Key, _ database: UTF8Key) {
        self.project = project
        self.database = database
    }

    /// The default database of a server that was not told its project.
    package static let standard = DatabaseID(unchecked: defaultProject, defaultDatabase)

    /// Reads an ID.
    ///
    /// - Parameters:
    ///   - text: `project/database`, or the database alone.
    ///   - project: The project of a database that stands alone.
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
        let fault: String? =
            if name.byteCount == 0 {
                "is empty. Use 1 to \(maximumNameBytes) bytes."
            } else if name.byteCount > maximumNameBytes {
                "has \(name.byteCount) bytes, and at most \(maximumNameBytes) are allowed. Shorten it."
            } else if name.utf8.contains(UInt8(ascii: "/")) {
                "contains a slash, which separates the project from the database. Use another character."
            } else if name.utf8.contains(0) {
                "contains a NUL character. Remove it."
            } else if name == "." || name == ".." {
                "is not allowed, since it means a folder. Use another."
            } else {
                nil
            }
        guard let fault else { return }
        throw StatusError(.invalidArgument, "The \(kind) \(Excerpt(name.string)) \(fault)")
    }
}

extension DatabaseID: Comparable, CustomStringConvertible {
    /// Whether `left` comes first by the bytes of its project, then by those of its database.
    package static func < (left: DatabaseID, right: DatabaseID) -> Bool {
        (left.project, left.database) < (right.project, right.database)
    }

    /// `project/database`.
    package var description: String { "\(project.string)/\(database.string)" }
}
