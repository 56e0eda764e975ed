import DocumentModel
import FirestoreAPI
import FirestoreMessages
import UTF8Text

/// The query parameters of a request: fields of its message by path, such as `mask.fieldPaths`, and the standard parameters of
/// Google APIs.
struct URLParameters {
    private let fields: [(field: ProtoField, value: UTF8Key)]

    /// Google's standard parameters, each with an optional `$` prefix. Hearth accepts and ignores them.
    private static let standardParameters: [UTF8Key] = [
        "alt", "prettyPrint", "key", "access_token", "oauth_token", "fields", "quotaUser", "userIp", "uploadType",
        "upload_protocol",
        "xgafv", ".xgafv", "apiKey",
    ]

    /// Creates the parameters from decoded query items.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an unknown name or a format other than JSON.
    init(_ items: [(name: UTF8Key, value: UTF8Key)], known: [ProtoField]) throws(StatusError) {
        var fields: [(field: ProtoField, value: UTF8Key)] = []
        for (name, value) in items {
            let unprefixedName = name.utf8.first == UInt8(ascii: "$") ? UTF8Key(Substring(name.utf8.dropFirst())) : name
            if let field = known.first(where: { $0.matches(name) }) {
                fields.append((field, value))
            } else if unprefixedName == "alt" {
                guard value.utf8.prefix(while: { $0 != UInt8(ascii: ";") }).elementsEqual("json".utf8) else {
                    throw StatusError(
                        .invalidArgument,
                        "Unsupported alt \(Excerpt(value.string)); only alt=json is supported."
                    )
                }
            } else if !Self.standardParameters.contains(unprefixedName) {
                throw StatusError(
                    .invalidArgument,
                    "Invalid JSON payload received. Unknown name \(Excerpt(name.string)): Cannot bind query parameter. "
                        + "Supported parameters: \(known.isEmpty ? "none" : known.map(\.name.string).joined(separator: ", "))."
                )
            }
        }
        self.fields = fields
    }

    /// Returns all values of a repeated field.
    func strings(_ field: ProtoField) -> [String] {
        fields.filter { $0.field.name == field.name }.map(\.value.string)
    }

    /// Returns the value of a field, or `nil` if it is absent or empty.
    func string(_ field: ProtoField) throws(StatusError) -> String? {
        let values = strings(field)
        guard values.count <= 1 else { throw Self.error(field, "Expected one value, found \(values.count).") }
        return values.first.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    func boolean(_ field: ProtoField) throws(StatusError) -> Bool? {
        guard let text = try string(field) else { return nil }
        if text.utf8.elementsEqual("true".utf8) { return true }
        guard text.utf8.elementsEqual("false".utf8) else { throw Self.error(field, "Expected true or false.") }
        return false
    }

    func count(_ field: ProtoField) throws(StatusError) -> Int? {
        guard let text = try string(field) else { return nil }
        guard let integer = Int64(decimal: text), let count = Int32(exactly: integer) else {
            throw Self.error(field, "Expected a 32-bit integer.")
        }
        return Int(count)
    }

    func timestamp(_ field: ProtoField) throws(StatusError) -> Timestamp? {
        try string(field).map { text throws(StatusError) in try Timestamp(rfc3339: text) }
    }

    /// Returns the field paths of a mask, or `nil` if it is absent.
    func mask(_ field: ProtoField) throws(StatusError) -> [FieldPath]? {
        let strings = strings(field)
        guard !strings.isEmpty else { return nil }
        var paths: [FieldPath] = []
        for text in strings { paths.append(try FieldPath(text)) }
        return paths
    }

    /// Returns the precondition in `currentDocument.exists` or `currentDocument.updateTime`.
    func precondition() throws(StatusError) -> Precondition {
        let updateTime = try string("currentDocument.updateTime").map { text throws(StatusError) in
            try Timestamp(exactRFC3339: text)
        }
        switch (try boolean("currentDocument.exists"), updateTime) {
        case (nil, nil): return .none
        case (let exists?, nil): return .exists(exists)
        case (nil, let time?): return .updateTime(time)
        case (.some, .some): throw Self.error("currentDocument", "Expected at most one of exists and updateTime.")
        }
    }

    private static func error(_ field: ProtoField, _ message: String) -> StatusError {
        StatusError(.invalidArgument, message).prefixingPath(with: field.name.string)
    }
}
