import DocumentModel
import StrictJSON

/// The parameters in the query of a request's URL: fields of its message by their paths, such as `mask.fieldPaths`, and those
/// that every method of Google's has.
struct URLParameters {
    private let fields: [(field: MessageField, value: UTF8Key)]

    /// Those of every method, which may all be written with a `$` before them. None of them changes what is answered here.
    private static let common: [UTF8Key] = [
        "alt", "prettyPrint", "key", "access_token", "oauth_token", "fields", "quotaUser", "userIp", "uploadType",
        "upload_protocol",
        "xgafv", ".xgafv", "apiKey",
    ]

    /// - Throws: ``StatusCode/invalidArgument`` for what is not known, and for another format than JSON.
    init(_ items: [(name: UTF8Key, value: UTF8Key)], known: [MessageField]) throws(StatusError) {
        var fields: [(field: MessageField, value: UTF8Key)] = []
        for (name, value) in items {
            let commonName = name.utf8.first == UInt8(ascii: "$") ? UTF8Key(Substring(name.utf8.dropFirst())) : name
            if let field = known.first(where: { $0.isNamed(name) }) {
                fields.append((field, value))
            } else if commonName == "alt" {
                guard value.utf8.prefix(while: { $0 != UInt8(ascii: ";") }).elementsEqual("json".utf8) else {
                    throw StatusError(
                        .invalidArgument,
                        "Expected alt=json, which is all there is; found \(Excerpt(value.string))."
                    )
                }
            } else if !Self.common.contains(commonName) {
                throw StatusError(
                    .invalidArgument,
                    "Invalid JSON payload received. Unknown name \(Excerpt(name.string)): Cannot bind query parameter. "
                        + "Known here: \(known.isEmpty ? "none" : known.map(\.name.string).joined(separator: ", "))."
                )
            }
        }
        self.fields = fields
    }

    /// All values of a repeated field.
    func texts(_ field: MessageField) -> [String] {
        fields.filter { $0.field.name == field.name }.map(\.value.string)
    }

    /// The value of a field; nil when it is absent or empty.
    func text(_ field: MessageField) throws(StatusError) -> String? {
        let values = texts(field)
        guard values.count <= 1 else { throw Self.fault(field, "Expected it once, found it \(values.count) times.") }
        return values.first.flatMap { $0.utf8.isEmpty ? nil : $0 }
    }

    func boolean(_ field: MessageField) throws(StatusError) -> Bool? {
        guard let text = try text(field) else { return nil }
        if text.utf8.elementsEqual("true".utf8) { return true }
        guard text.utf8.elementsEqual("false".utf8) else { throw Self.fault(field, "Expected true or false.") }
        return false
    }

    func count(_ field: MessageField) throws(StatusError) -> Int? {
        guard let text = try text(field) else { return nil }
        guard let integer = Int64(decimal: text), let count = Int32(exactly: integer) else {
            throw Self.fault(field, "Expected an integer of 32 bits.")
        }
        return Int(count)
    }

    func timestamp(_ field: MessageField) throws(StatusError) -> Timestamp? {
        try text(field).map { text throws(StatusError) in try Timestamp(rfc3339: text) }
    }

    /// The paths of a mask; nil when there is none.
    func mask(_ field: MessageField) throws(StatusError) -> [FieldPath]? {
        let texts = texts(field)
        guard !texts.isEmpty else { return nil }
        var paths: [FieldPath] = []
        for text in texts { paths.append(try FieldPath(text)) }
        return paths
    }

    /// `currentDocument.exists` or `currentDocument.updateTime`.
    func precondition() throws(StatusError) -> Precondition {
        let updateTime = try text("currentDocument.updateTime").map { text throws(StatusError) in
            try Timestamp(alignedRFC3339: text)
        }
        switch (try boolean("currentDocument.exists"), updateTime) {
        case (nil, nil): return .none
        case (let exists?, nil): return .exists(exists)
        case (nil, let time?): return .updateTime(time)
        case (.some, .some): throw Self.fault("currentDocument", "Expected at most one of exists and updateTime.")
        }
    }

    private static func fault(_ field: MessageField, _ message: String) -> StatusError {
        StatusError(.invalidArgument, message).inside(place: field.name.string)
    }
}
