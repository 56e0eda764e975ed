internal import DocumentModel
internal import StrictJSON

extension FieldPath {
    /// Takes names as they are, without looking for dots in them. No name, or an empty one, is a mistake in the program and
    /// ends it.
    public init(_ fieldNames: [String]) {
        do throws(StatusError) {
            try self.init(segments: fieldNames.map { UTF8Key($0) })
        } catch {
            preconditionFailure("Invalid field path \(fieldNames): \(error.message)")
        }
    }

    /// Stands for the document's id in queries.
    public static func documentID() -> FieldPath {
        FieldPath(["__name__"])
    }

    /// Reads a path as Firestore's clients write it: names with dots between them, whatever letters they have.
    ///
    /// - Throws: `.invalidArgument` for an empty name, and for `~`, `*`, `/`, `[` and `]`, which have no meaning here.
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

    /// Reads what users name fields with: a `String` or a ``FieldPath``.
    init(any field: Any) throws(StatusError) {
        switch field {
        case let path as FieldPath: self = path
        case let text as String: try self.init(dotted: text)
        default:
            throw StatusError(.invalidArgument, "Expected a String or FieldPath as name of a field, found \(type(of: field)).")
        }
    }
}
