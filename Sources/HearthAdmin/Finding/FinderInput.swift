import DocumentModel
import UTF8Text

/// The text entered in the search box: a path, a URL of a page, or a term to search for.
struct FinderInput: Sendable {
    /// The interpretation of the text.
    enum Target: Sendable {
        /// There is no text.
        case nothing
        /// The path of a collection or document, with at least one slash.
        case path(ResourcePath)
        /// The URL of a page of this server.
        case page(String)
        /// A document ID, or part of the name of a collection or page.
        case term(String)
        /// Text that is none of these, with the reason.
        case invalid(String)
    }

    /// The text without surrounding whitespace; empty if it is too long to be repeated on a page.
    let text: String
    let target: Target

    /// Interprets text.
    ///
    /// A path may begin and end with a slash. URLs of pages and Firestore's resource names
    /// (`projects/P/databases/D/documents/books/hitchhiker`) are recognized, so that they can be pasted.
    init(_ input: UTF8Key) {
        let text = FormTextCoding.trimmed(input.string)
        guard text.utf8.count <= Self.maximumBytes else {
            self.init(
                text: "",
                .invalid(localized("The text is too long. A path has at most {limit} bytes.", ["limit": Self.maximumPathText]))
            )
            return
        }
        self.init(text: text, Self.target(of: text))
    }

    private init(text: String, _ target: Target) {
        (self.text, self.target) = (text, target)
    }

    /// The document whose collections, or the collection whose documents, complete the text, and the beginning of the ID to
    /// complete; `nil` if the text has no slash or the parent is not a path.
    var completion: (parent: ResourcePath, prefix: String)? {
        switch target {
        case .path, .invalid: break
        default: return nil
        }
        let path = Self.droppingSlash(text).utf8
        guard let slash = path.lastIndex(of: Self.slash), let parent = try? ResourcePath(String(Substring(path[..<slash]))) else {
            return nil
        }
        return (parent, String(Substring(path[path.index(after: slash)...])))
    }
}

extension FinderInput {
    /// The maximum length: that of a percent-encoded path, and an origin.
    private static let maximumBytes = 3 * DocumentLimits.maximumPathBytes + 1_024
    private static var maximumPathText: String { NumberFormat.grouped(DocumentLimits.maximumPathBytes) }
    private static let slash = UInt8(ascii: "/")

    private static func target(of text: String) -> Target {
        if text.utf8.isEmpty { return .nothing }
        if let url = pageURL(text) {
            return url.map(Target.page) ?? .invalid(localized("No page has this URL."))
        }
        if let url = resourceNameURL(text) { return .page(url) }
        var path = droppingSlash(text).utf8
        if path.last == slash { path = path.dropLast() }
        // A term with a slash at its end is the path of a collection: `books/`.
        guard path.contains(slash) || text.utf8.contains(slash) else { return .term(text) }
        do throws(StatusError) {
            return .path(try ResourcePath(String(Substring(path))))
        } catch {
            return .invalid(error.message)
        }
    }

    /// Returns the text without a slash at its beginning.
    private static func droppingSlash(_ text: String) -> Substring {
        text.utf8.first == slash ? Substring(text.utf8.dropFirst()) : Substring(text)
    }

    /// Returns the path and query of a URL on this server; `nil` if the text is not a URL, an inner `nil` if no page has it.
    ///
    /// The origin is ignored, because a server has many names.
    private static func pageURL(_ text: String) -> String?? {
        var rest = text.utf8[...]
        if let scheme = ["https://", "http://"].first(where: { rest.starts(with: $0.utf8) }) {
            rest = rest.dropFirst(scheme.utf8.count).drop { $0 != slash }
        } else if !["/admin/", "/rpc/docs"].contains(where: { rest.starts(with: $0.utf8) }) {
            return nil
        }
        let url = String(Substring(rest.prefix { $0 != UInt8(ascii: "#") }))
        let path = String(Substring(url.utf8.prefix { $0 != UInt8(ascii: "?") }))
        guard ReturnURL(UTF8Key(url)).url == url, let address = try? DatabaseURLPrefix(rawPath: path) else { return .some(nil) }
        switch AdminRoute(rawPath: address.path) {
        case .unknown, .malformed, .asset, .preferences, .signOut: return .some(nil)
        default: return url
        }
    }

    /// Returns the URL of the page of a resource name; `nil` if the text is not one.
    private static func resourceNameURL(_ text: String) -> String? {
        let parts = droppingSlash(text).utf8.split(separator: slash, omittingEmptySubsequences: false)
            .map { UTF8Key(Substring($0)) }
        guard parts.count > 5, parts[0] == "projects", parts[2] == "databases", parts[4] == "documents",
            let database = try? DatabaseID(project: parts[1], database: parts[3]),
            let path = try? ResourcePath(Array(parts[5...]))
        else { return nil }
        return AdminURL.$database.withValue(database) { AdminURL.resource(path) }
    }
}
