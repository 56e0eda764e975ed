import DocumentModel
import FirestoreAPI
import FirestoreMessages
import UTF8Text

/// The parsed path of a request: `/v1/projects/P/databases/D/documents[/IDS…][:VERB]`.
struct RequestPath {
    let database: DatabaseName
    /// The IDs below the database root; a trailing empty ID means all collections.
    let segments: [UTF8Key]
    /// The custom verb after the last colon, such as `runQuery`.
    let verb: UTF8Key?

    /// Parses a path.
    ///
    /// - Parameters:
    ///   - path: The percent-encoded path without the query.
    ///   - verbs: The custom verbs that the last segment may end with, as in the path of a POST request.
    /// - Throws: ``StatusCode/notFound`` for a path of a different form, ``StatusCode/invalidArgument`` for invalid encoding.
    init(path: some Collection<UInt8>, verbs: Set<UTF8Key> = []) throws(StatusError) {
        var parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        verb = verbs.isEmpty ? nil : Self.removeVerb(from: &parts, knownVerbs: verbs)
        var names: [UTF8Key] = []
        for part in parts.dropFirst() {
            guard let bytes = PercentEncoding.decode(part), let name = UTF8Key(validating: bytes) else {
                throw StatusError(
                    .invalidArgument,
                    "The path is not valid percent-encoded UTF-8."
                )
            }
            names.append(name)
        }
        guard names.count >= 6, names[0] == "v1", names[1] == "projects", names[3] == "databases", names[5] == "documents",
            names[2].byteCount > 0, names[4].byteCount > 0
        else {
            throw StatusError(
                .notFound,
                "No resource at this path. Expected /v1/projects/PROJECT/databases/DATABASE/documents/…"
            )
        }
        database = DatabaseName(try DatabaseID(project: names[2], database: names[4]))
        // Some clients send an extra slash before a top-level collection. An empty segment anywhere else is a missing ID.
        let segments = Array(names.dropFirst(6).drop { $0.byteCount == 0 })
        guard segments.dropLast().allSatisfy({ $0.byteCount > 0 }) else {
            throw StatusError(.invalidArgument, "The path contains an empty ID.")
        }
        self.segments = names.count > 6 && names.last == "" && verbs.isEmpty && segments.isEmpty ? [""] : segments
    }

    /// Removes a known verb from the last segment. A percent-encoded colon, or one in a collection ID, does not start a verb.
    private static func removeVerb(from parts: inout [[UInt8]], knownVerbs: Set<UTF8Key>) -> UTF8Key? {
        guard let last = parts.last, let colon = last.lastIndex(of: UInt8(ascii: ":")),
            let verb = UTF8Key(validating: last[(colon + 1)...]), knownVerbs.contains(verb)
        else { return nil }
        parts[parts.count - 1] = Array(last[..<colon])
        return verb
    }
}

extension RequestPath {
    /// The resource that the path names.
    var name: ResourceName { ResourceName(database, segments) }
}
