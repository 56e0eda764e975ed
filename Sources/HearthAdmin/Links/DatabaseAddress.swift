import DocumentModel
import StrictJSON

/// Takes the database out of the address of a page: `/admin/databases/PROJECT/DATABASE/data/books`.
///
/// The default database's pages have no such beginning.
struct DatabaseAddress {
    /// The names of the project and the database; nil for the default one.
    let database: DatabaseID?
    /// The address that the page would have in the default database.
    let path: String

    private static let start = "/admin/databases/"

    /// Reads a raw path, without query.
    ///
    /// - Throws: `invalidArgument` when the names can't be a database's.
    init(rawPath: String) throws(StatusError) {
        guard rawPath.utf8.starts(with: Self.start.utf8) else {
            (database, path) = (nil, rawPath)
            return
        }
        let parts = rawPath.utf8.dropFirst(Self.start.utf8.count)
            .split(separator: UInt8(ascii: "/"), maxSplits: 2, omittingEmptySubsequences: false)
        let names = parts.prefix(2).compactMap { PercentEncoding.decode($0).flatMap { UTF8Key(validating: $0) } }
        guard names.count == 2 else {
            throw StatusError(.invalidArgument, "The address of a database is \(Self.start)PROJECT/DATABASE/, percent-encoded.")
        }
        database = try DatabaseID(project: names[0], database: names[1])
        path = "/admin/" + (parts.count > 2 ? String(Substring(parts[2])) : "")
    }

    /// What the addresses of a database's pages begin with.
    static func base(of database: DatabaseID?) -> String {
        guard let database else { return "/admin" }
        return start + PercentEncoding.encode(database.project) + "/" + PercentEncoding.encode(database.database)
    }
}
