import HTTPTypes
import UTF8Text

/// A route of the pages, parsed from the path of a request.
///
/// The path is split before it is decoded, so an encoded `%2F` doesn't separate components (it makes the ID invalid). The raw
/// path is parsed as bytes, because Swift's string methods would split and compare it by grapheme clusters.
enum AdminRoute: Hashable, Sendable {
    /// The overview of a database.
    case overview
    /// A collection or document: the alternating IDs of its path, at least one.
    case data([UTF8Key])
    /// The API reference.
    case documentation
    /// The form that stores preferences.
    case preferences
    /// The sign-in page.
    case signIn
    /// The sign-out form.
    case signOut
    /// The API keys.
    case keys
    /// The databases.
    case databases
    /// The activity of the server.
    case activity
    /// The latest slow calls.
    case slowCalls
    /// The server's log.
    case log
    /// The backups of all databases.
    case backups
    /// The settings of a database.
    case settings
    /// The security rules of a database.
    case rules
    /// The playground of the security rules.
    case rulesPlayground
    /// The import page.
    case `import`
    /// The list of background jobs.
    case jobs
    /// A background job.
    case job(UTF8Key)
    /// The query page.
    case query
    /// The results of the search box.
    case find
    /// A static file.
    case asset(UTF8Key)
    /// A redirect to a page's canonical URL.
    case moved(String)
    /// A path without a page.
    case unknown
    /// A path that isn't percent-encoded UTF-8.
    case malformed

    /// Parses a raw path without its query.
    init(rawPath: String) {
        guard rawPath.utf8.first == UInt8(ascii: "/") else {
            self = .unknown
            return
        }
        var segments: [UTF8Key] = []
        for part in rawPath.utf8.dropFirst().split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false) {
            guard let segment = PercentEncoding.decode(part).flatMap({ UTF8Key(validating: $0) }) else {
                self = .malformed
                return
            }
            segments.append(segment)
        }
        self = Self(segments)
    }

    /// True if the path has a page.
    var isKnown: Bool {
        switch self {
        case .overview, .data, .documentation, .preferences, .signIn, .signOut, .keys, .databases, .activity, .slowCalls, .log,
            .backups, .query, .find, .settings, .rules, .rulesPlayground, .import, .jobs, .job, .asset, .moved:
            true
        case .unknown, .malformed: false
        }
    }

    /// True if the route is available without signing in.
    var isPublic: Bool {
        switch self {
        case .signIn, .signOut, .preferences, .asset: true
        default: false
        }
    }

    /// Returns the HTTP methods that the route supports.
    func methods(with query: URLQuery) -> [HTTPRequest.Method] {
        switch self {
        case .documentation, .signIn, .signOut, .keys, .databases, .backups, .settings, .rules, .rulesPlayground, .import, .job:
            [.get, .head, .post]
        case .preferences: [.post]
        case .overview where query["new"] != nil: [.get, .head, .post]
        case .overview where query["load"] != nil: [.post]
        // A stream of live updates has an item with the name of an action: the columns of its table.
        case .data where query["live"] == nil: DataAction(query)?.methods ?? [.get, .head]
        default: [.get, .head]
        }
    }

    private init(_ segments: [UTF8Key]) {
        let empty: UTF8Key = ""
        switch segments {
        case [empty], ["admin"], ["admin", "data"], ["admin", "data", empty]: self = .moved(AdminURL.overview)
        case ["admin", empty]: self = .overview
        case ["admin", "preferences"]: self = .preferences
        case ["admin", "import"]: self = .import
        case ["admin", "keys"]: self = .keys
        case ["admin", "databases"]: self = .databases
        case ["admin", "databases", empty]: self = .moved(AdminURL.databases)
        case ["admin", "activity"]: self = .activity
        case ["admin", "activity", "slow-calls"]: self = .slowCalls
        case ["admin", "log"]: self = .log
        case ["admin", "backups"]: self = .backups
        case ["admin", "settings"]: self = .settings
        case ["admin", "rules"]: self = .rules
        case ["admin", "rules", "playground"]: self = .rulesPlayground
        case ["admin", "jobs"]: self = .jobs
        case ["admin", "jobs", empty], ["admin", "work"], ["admin", "work", empty]: self = .moved(AdminURL.jobs)
        case ["admin", "sign-in"]: self = .signIn
        case ["admin", "sign-out"]: self = .signOut
        case ["admin", "query"]: self = .query
        case ["admin", "find"]: self = .find
        case ["rpc", "docs"]: self = .documentation
        case ["rpc", "docs", empty]: self = .moved(AdminURL.documentation)
        default:
            guard segments.count > 2, segments[0] == "admin" else {
                self = .unknown
                return
            }
            let rest = Array(segments[2...])
            if segments[1] == "assets", rest.count == 1 {
                self = .asset(rest[0])
            } else if segments[1] == "jobs", rest.count == 1, rest[0] != empty {
                self = .job(rest[0])
            } else if segments[1] == "work", rest.count == 1 {
                // The path of a job in earlier releases.
                self = .moved(AdminURL.job(rest[0]))
            } else if segments[1] == "data", rest.last == empty, !rest.dropLast().contains(empty) {
                self = .moved(AdminURL.data(rest.dropLast()))
            } else if segments[1] == "data", !rest.contains(empty) {
                self = .data(rest)
            } else {
                self = .unknown
            }
        }
    }
}
