import DocumentModel
import StrictJSON

/// The addresses of the pages: they mirror the paths of the documents, and what a page does is in its query.
enum AdminURL {
    /// The database whose pages are linked while a page is made; nil for the default one.
    @TaskLocal static var database: DatabaseID?
    private static var base: String { DatabaseAddress.base(of: database) }

    /// The overview of the database.
    static var overview: String { base + "/" }
    /// The overview of another database.
    static func overview(of database: DatabaseID?) -> String { DatabaseAddress.base(of: database) + "/" }
    /// The documentation of the calls.
    static let documentation = "/rpc/docs"
    /// Where the forms at the foot of pages are sent.
    static let preferences = "/admin/preferences"
    /// Where browsers sign in.
    static let signIn = "/admin/sign-in"
    /// Where they sign out.
    static let signOut = "/admin/sign-out"
    /// Where a collection is begun.
    static var newCollection: String { base + "/?new" }
    /// Where documents are imported.
    static var importing: String { base + "/import" }
    /// The keys.
    static let keys = "/admin/keys"
    /// What is settled for the whole database.
    static var settings: String { base + "/settings" }
    /// The list of what takes long.
    static var works: String { works(in: database) }
    /// The list of what takes long in another database.
    static func works(in database: DatabaseID?) -> String { DatabaseAddress.base(of: database) + "/work" }
    /// The page of something that takes long.
    static func work(_ id: UTF8Key) -> String { works + "/" + PercentEncoding.encode(id) }
    /// The page to write a query on.
    static var query: String { base + "/query" }
    /// What the addresses of static files begin with.
    static let assets = "/admin/assets/"

    /// The page of a collection.
    static func collection(_ path: CollectionPath, query: [(name: StaticString, value: UTF8Key)] = []) -> String {
        data(path.segments) + self.query(query)
    }

    /// The page of a document.
    static func document(_ path: DocumentPath, query: [(name: StaticString, value: UTF8Key)] = []) -> String {
        data(path.segments) + self.query(query)
    }

    /// The file of a document.
    static func file(of path: DocumentPath) -> String { document(path, query: [("view", "file")]) }

    /// The versions of a document.
    static func history(of path: DocumentPath) -> String { document(path) + "?history" }

    /// Where the documents that the filters of a collection find are deleted.
    static func delete(found request: CollectionRequest) -> String {
        let items: [(name: StaticString, value: UTF8Key)] = request.filters.compactMap(\.text).map { ("where", $0) }
        return collection(request.path) + query([("delete", "found")] + items)
    }

    /// The page of what the IDs of collections and documents lead to.
    static func data(_ segments: some Sequence<UTF8Key>) -> String {
        segments.reduce(base + "/data") { url, segment in "\(url)/\(PercentEncoding.encode(segment))" }
    }

    /// A query with the `?` before it; nothing when it has no items.
    static func query(_ items: [(name: StaticString, value: UTF8Key)]) -> String {
        guard !items.isEmpty else { return "" }
        return "?" + items.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
