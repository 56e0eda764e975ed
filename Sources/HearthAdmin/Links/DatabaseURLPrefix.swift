import DocumentModel
import UTF8Text

/// The database prefix of a page's path: `/admin/databases/PROJECT/DATABASE/data/books`.
///
/// The pages of the default database have no prefix.
struct DatabaseURLPrefix {
    /// The project and database name; `nil` for the default database.
    let database: DatabaseID?
    /// The path without the prefix, as in the default database.
    let path: String

    private static let prefix = "/admin/databases/"

    /// Parses a raw path without its query.
    ///
    /// - Throws: `invalidArgument` when the project or database name is invalid.
    init(rawPath: String) throws(StatusError) {
        // The prefix alone is the path of the list of databases.
        guard rawPath.utf8.starts(with: Self.prefix.utf8), rawPath.utf8.count > Self.prefix.utf8.count else {
            (database, path) = (nil, rawPath)
            return
        }
        let parts = rawPath.utf8.dropFirst(Self.prefix.utf8.count)
            .split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        let names = parts.prefix(2).compactMap { PercentEncoding.decode($0).flatMap { UTF8Key(validating: $0) } }
        guard names.count == 2 else {
            throw StatusError(.invalidArgument, "Expected \(Self.prefix)PROJECT/DATABASE/ with percent-encoded names.")
        }
        database = try DatabaseID(project: names[0], database: names[1])
        path = "/admin/" + (parts.count > 2 ? String(Substring(parts[2])) : "")
    }

    /// Returns the common prefix of the URLs of a database's pages.
    static func base(of database: DatabaseID?) -> String {
        guard let database else { return "/admin" }
        return prefix + PercentEncoding.encode(database.project) + "/" + PercentEncoding.encode(database.database)
    }
}
