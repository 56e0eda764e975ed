package import DocumentModel
import UTF8Text

/// A pattern of database IDs: `project/database`, where `*` stands for any project or any database.
package struct DatabasePattern: Hashable, Sendable, CustomStringConvertible {
    /// The project ID; `nil` for any.
    private let project: UTF8Key?
    /// The database ID; `nil` for any.
    private let database: UTF8Key?

    private static let wildcard: UTF8Key = "*"

    /// The pattern `*/*`, which every database matches.
    package static let all = DatabasePattern(project: nil, database: nil)

    private init(project: UTF8Key?, database: UTF8Key?) {
        self.project = project
        self.database = database
    }

    /// Parses a pattern.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` unless both parts are `*` or an ID without `*`.
    package init(_ text: String) throws(StatusError) {
        let parts = text.utf8.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { UTF8Key(Substring($0)) }
        guard parts.count == 2, parts.allSatisfy({ $0 == Self.wildcard || !$0.utf8.contains(UInt8(ascii: "*")) }) else {
            throw StatusError(
                .invalidArgument,
                "Expected a pattern such as my-app/(default), tests/* or */*, in which a * stands for a whole ID, "
                    + "found \(Excerpt(text))."
            )
        }
        let project = parts[0] == Self.wildcard ? nil : parts[0]
        let database = parts[1] == Self.wildcard ? nil : parts[1]
        // Reports invalid IDs, which no database can have.
        _ = try DatabaseID(project: project ?? DatabaseID.standard.project, database: database ?? DatabaseID.defaultDatabase)
        self.init(project: project, database: database)
    }

    /// Returns whether a database matches.
    package func matches(_ id: DatabaseID) -> Bool {
        (project.map { $0 == id.project } ?? true) && (database.map { $0 == id.database } ?? true)
    }

    /// The text of the pattern.
    package var description: String { "\(project ?? Self.wildcard)/\(database ?? Self.wildcard)" }
}
