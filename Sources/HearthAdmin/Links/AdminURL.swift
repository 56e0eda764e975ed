import DocumentModel
import HearthAPI
import UTF8Text

/// The URLs of the pages. They mirror the paths of documents; the query selects a view or an action.
enum AdminURL {
    /// The database of the page being rendered; `nil` for the default one.
    @TaskLocal static var database: DatabaseID?
    private static var base: String { DatabaseURLPrefix.base(of: database) }

    /// The overview of the database.
    static var overview: String { base + "/" }
    /// The overview of another database.
    static func overview(of database: DatabaseID?) -> String { DatabaseURLPrefix.base(of: database) + "/" }
    /// The API reference.
    static let documentation = "/rpc/docs"
    /// The target of the preference forms in the footer.
    static let preferences = "/admin/preferences"
    /// The sign-in page.
    static let signIn = "/admin/sign-in"
    /// The target of the sign-out form.
    static let signOut = "/admin/sign-out"
    /// The page that creates a collection.
    static var newCollection: String { base + "/?new" }
    /// The page that creates a subcollection of a document.
    static func newSubcollection(of path: DocumentPath) -> String {
        newCollection + "&below=" + PercentEncoding.encode(UTF8Key(path.string))
    }
    /// The target of the form that loads the example documents.
    static var loadExamples: String { base + "/?load" }
    /// The import page.
    static var `import`: String { base + "/import" }
    /// The databases.
    static let databases = "/admin/databases"
    /// The API keys.
    static let keys = "/admin/keys"
    /// The activity of the server.
    static let activity = "/admin/activity"
    /// The activity of the server in a span of time.
    static func activity(of span: ActivityHistory.Span) -> String { "\(activity)?span=\(span.rawValue)" }
    /// The latest slow calls.
    static let slowCalls = "/admin/activity/slow-calls"
    /// The server's log.
    static let log = "/admin/log"
    /// The backups.
    static let backups = "/admin/backups"
    /// The settings of the database.
    static var settings: String { base + "/settings" }
    /// The security rules of the database.
    static var rules: String { base + "/rules" }
    /// An earlier version of the security rules.
    static func rules(ofVersion version: UTF8Key) -> String { rules + query([("version", version)]) }
    /// The playground of the security rules.
    static var rulesPlayground: String { rules + "/playground" }
    /// The list of background jobs.
    static var jobs: String { jobs(in: database) }
    /// The list of background jobs in another database.
    static func jobs(in database: DatabaseID?) -> String { DatabaseURLPrefix.base(of: database) + "/jobs" }
    /// The page of a background job.
    static func job(_ id: UTF8Key) -> String { jobs + "/" + PercentEncoding.encode(id) }
    /// The target of the search box.
    static var find: String { base + "/find" }
    /// The query page.
    static var query: String { base + "/query" }
    /// The target of the buttons that run a query: the results on the query page.
    static var queryResults: String { query + "#results" }
    /// The prefix of the URLs of static files.
    static let assets = "/admin/assets/"

    /// The page of a collection.
    static func collection(_ path: CollectionPath, query: [(name: StaticString, value: UTF8Key)] = []) -> String {
        data(path.segments) + self.query(query)
    }

    /// The page of a document.
    static func document(_ path: DocumentPath, query: [(name: StaticString, value: UTF8Key)] = []) -> String {
        data(path.segments) + self.query(query)
    }

    /// The page of a collection or document.
    static func resource(_ path: ResourcePath) -> String {
        switch path {
        case .collection(let path): collection(path)
        case .document(let path): document(path)
        }
    }

    /// The raw file of a document.
    static func file(of path: DocumentPath) -> String { document(path, query: [("view", "file")]) }

    /// The history of a document.
    static func history(of path: DocumentPath) -> String { document(path) + "?history" }

    /// The page of a collection or document with a path.
    static func data(_ segments: some Sequence<UTF8Key>) -> String {
        segments.reduce(base + "/data") { url, segment in "\(url)/\(PercentEncoding.encode(segment))" }
    }

    /// Encodes a query with the leading `?`; returns an empty string when there are no items.
    static func query(_ items: [(name: StaticString, value: UTF8Key)]) -> String {
        guard !items.isEmpty else { return "" }
        return "?" + items.map { "\($0.name)=\(PercentEncoding.encode($0.value))" }.joined(separator: "&")
    }
}
