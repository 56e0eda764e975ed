import DocumentModel
import HTTPTypes
import StrictJSON

/// What the address of a page names.
///
/// It is read from the raw path of the request, byte by byte: IDs hold anything but `/`, also `%2F` once encoded, and
/// Swift's own string methods would split and compare them by characters.
enum AdminRoute: Hashable, Sendable {
    /// The overview.
    case overview
    /// The IDs of collections and documents in turn, at least one.
    case data([UTF8Key])
    /// The documentation of the calls.
    case documentation
    /// What a reader wants pages to be like.
    case preferences
    /// Where browsers sign in.
    case signIn
    /// Where they sign out.
    case signOut
    /// The keys.
    case keys
    /// What is settled for the whole database.
    case settings
    /// Where documents are imported.
    case importing
    /// The list of what takes long.
    case works
    /// Something that takes long.
    case work(UTF8Key)
    /// A query to be written.
    case query
    /// A static file.
    case asset(UTF8Key)
    /// The same page has another address.
    case moved(String)
    /// Nothing has this address.
    case unknown
    /// The path isn't percent-encoded UTF-8.
    case malformed

    /// Reads a raw path, without query.
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

    /// Whether something has this address.
    var isKnown: Bool {
        switch self {
        case .overview, .data, .documentation, .preferences, .signIn, .signOut, .keys, .query, .settings, .importing, .works,
            .work, .asset, .moved:
            true
        case .unknown, .malformed: false
        }
    }

    /// Whether it is answered to those too who have not signed in.
    var isForEverybody: Bool {
        switch self {
        case .signIn, .signOut, .preferences, .asset: true
        default: false
        }
    }

    /// The methods that the address answers.
    func methods(with query: Query) -> [HTTPRequest.Method] {
        switch self {
        case .documentation, .signIn, .signOut, .keys, .settings, .importing, .work: [.get, .head, .post]
        case .preferences: [.post]
        case .overview where query["new"] != nil: [.get, .head, .post]
        case .data where DataAction(query) != nil: [.get, .head, .post]
        default: [.get, .head]
        }
    }

    private init(_ segments: [UTF8Key]) {
        let empty: UTF8Key = ""
        switch segments {
        case [empty], ["admin"], ["admin", "data"], ["admin", "data", empty]: self = .moved(AdminURL.overview)
        case ["admin", empty]: self = .overview
        case ["admin", "preferences"]: self = .preferences
        case ["admin", "import"]: self = .importing
        case ["admin", "keys"]: self = .keys
        case ["admin", "settings"]: self = .settings
        case ["admin", "work"]: self = .works
        case ["admin", "work", empty]: self = .moved(AdminURL.works)
        case ["admin", "sign-in"]: self = .signIn
        case ["admin", "sign-out"]: self = .signOut
        case ["admin", "query"]: self = .query
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
            } else if segments[1] == "work", rest.count == 1, rest[0] != empty {
                self = .work(rest[0])
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
