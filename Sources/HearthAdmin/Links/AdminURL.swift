import DocumentModel
import StrictJSON

/// The addresses of the pages: they mirror the paths of the documents, and what a page does is in its query.
enum AdminURL {
    /// The overview.
    static let overview = "/admin/"
    /// The documentation of the calls.
    static let documentation = "/rpc/docs"
    /// Where the forms at the foot of pages are sent.
    static let preferences = "/admin/preferences"
    /// Where browsers sign in.
    static let signIn = "/admin/sign-in"
    /// Where they sign out.
    static let signOut = "/admin/sign-out"
    /// The keys.
    static let keys = "/admin/keys"
    /// What is settled for the whole database.
    static let settings = "/admin/settings"
    /// The page of something that takes long.
    static func work(_ id: UTF8Key) -> String { "/admin/work/" + PercentEncoding.encode(id) }
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

    private static func data(_ segments: [UTF8Key]) -> String {
        segments.reduce("/admin/data") { url, segment in "\(url)/\(PercentEncoding.encode(segment))" }
    }

    /// A query with the `?` before it; nothing when it has no items.
    static func query(_ items: [(name: StaticString, value: UTF8Key)]) -> String {
        guard !items.isEmpty else { return "" }
        return "?" + items.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
