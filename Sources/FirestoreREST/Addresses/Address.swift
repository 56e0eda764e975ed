import DocumentModel
import StrictJSON

/// What the path of a request names: `/v1/projects/P/databases/D/documents[/IDS…][:VERB]`.
struct Address {
    let database: DatabaseName
    /// The IDs below the database's root; an empty one at the end stands for all collections.
    let segments: [UTF8Key]
    /// What is behind the last colon where that is asked for.
    let verb: UTF8Key?

    /// - Parameters:
    ///   - path: The path as it was sent, without the query.
    ///   - hasVerb: Whether a colon in the last segment stands before a verb, as in the path of a POST.
    /// - Throws: ``StatusCode/notFound`` for another path, ``StatusCode/invalidArgument`` for bytes that are not UTF-8.
    init(path: some Collection<UInt8>, hasVerb: Bool) throws(StatusError) {
        var parts = path.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false).map { Array($0) }
        verb = hasVerb ? Self.takeVerb(from: &parts) : nil
        var names: [UTF8Key] = []
        for part in parts.dropFirst() {
            guard let bytes = PercentEncoding.decode(part), let name = UTF8Key(validating: bytes) else {
                throw StatusError(
                    .invalidArgument,
                    "The path is not UTF-8 when it is decoded, or has a % without two hexadecimal digits behind it."
                )
            }
            names.append(name)
        }
        guard names.count >= 6, names[0] == "v1", names[1] == "projects", names[3] == "databases", names[5] == "documents",
            names[2].byteCount > 0, names[4].byteCount > 0
        else {
            throw StatusError(
                .notFound,
                "There is nothing at this path. Expected /v1/projects/PROJECT/databases/DATABASE/documents and what follows it."
            )
        }
        database = DatabaseName(try DatabaseID(project: names[2], database: names[4]))
        // Some clients put a slash too many before a collection at the top; elsewhere an ID is missing.
        let segments = Array(names.dropFirst(6).drop { $0.byteCount == 0 })
        guard segments.dropLast().allSatisfy({ $0.byteCount > 0 }) else {
            throw StatusError(.invalidArgument, "There is an empty ID in the path, between two slashes.")
        }
        self.segments = names.count > 6 && names.last == "" && !hasVerb && segments.isEmpty ? [""] : segments
    }

    /// Cuts a verb off the last segment; an encoded colon is none, and neither is one in the name of a collection.
    private static func takeVerb(from parts: inout [[UInt8]]) -> UTF8Key? {
        guard let last = parts.last, let colon = last.lastIndex(of: UInt8(ascii: ":")),
            let verb = UTF8Key(validating: last[(colon + 1)...]), FirestoreCall.verbs.contains(verb)
        else { return nil }
        parts[parts.count - 1] = Array(last[..<colon])
        return verb
    }
}

extension Address {
    /// The document that is named.
    func document() throws(StatusError) -> DocumentPath {
        guard case .document(let path) = try DataPath(segments) else {
            throw StatusError(.invalidArgument, "Expected the path of a document, found one of a collection.")
        }
        return path
    }

    /// The document that is named as what collections are below; nil for the root.
    func parent() throws(StatusError) -> DocumentPath? {
        segments.isEmpty ? nil : try document()
    }

    /// The collection that is named.
    func collection() throws(StatusError) -> CollectionPath {
        guard case .collection(let path) = try DataPath(segments) else {
            throw StatusError(.invalidArgument, "Expected the path of a collection, found one of a document.")
        }
        return path
    }
}
