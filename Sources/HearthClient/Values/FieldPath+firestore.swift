internal import DocumentModel
internal import UTF8Text

extension FieldPath {
    /// Creates a field path from field names, which may contain dots.
    ///
    /// - Precondition: There is at least one name, and no name is empty.
    public init(_ fieldNames: [String]) {
        do throws(StatusError) {
            try self.init(segments: fieldNames.map { UTF8Key($0) })
        } catch {
            preconditionFailure("Invalid field path \(fieldNames): \(error.message)")
        }
    }

    /// Returns the field path that represents the document ID in queries.
    public static func documentID() -> FieldPath {
        FieldPath(["__name__"])
    }

    /// Parses a path in the syntax of Firestore's clients: names separated by dots, without quoting.
    ///
    /// - Throws: `.invalidArgument` for an empty name, and for the reserved characters `~`, `*`, `/`, `[` and `]`.
    init(dotted text: String) throws(StatusError) {
        let forbidden = Array("~*/[]".utf8)
        guard !text.utf8.contains(where: forbidden.contains) else {
            throw StatusError(
                .invalidArgument,
                "Invalid field path \(Excerpt(text)). Paths must not contain '~', '*', '/', '[', or ']'; "
                    + "use FieldPath([\"…\"]) for such names.",
                field: Excerpt(text).text
            )
        }
        let names = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard !names.contains(where: \.isEmpty) else {
            throw StatusError(
                .invalidArgument,
                "Invalid field path \(Excerpt(text)). Paths must not be empty, begin with '.', end with '.', or contain '..'.",
                field: Excerpt(text).text
            )
        }
        try self.init(segments: names.map { UTF8Key(Substring($0)) })
    }

    /// Creates a field path from a `String` or a ``FieldPath``.
    init(any field: Any) throws(StatusError) {
        switch field {
        case let path as FieldPath: self = path
        case let text as String: try self.init(dotted: text)
        default:
            throw StatusError(.invalidArgument, "Expected a String or FieldPath, found \(type(of: field)).")
        }
    }
}
