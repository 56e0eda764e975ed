import DocumentModel
import StrictJSON
import Testing

/// Documents in JSON and timestamps for tests of writes.
enum WriteFixtures {
    static let path = try! DocumentPath("books/hitchhiker")  // Cannot fail: a literal with valid components.
    /// Returns a timestamp in seconds since 1970.
    static func second(_ second: Int64) -> Timestamp {
        try! Timestamp(microseconds: second * 1_000_000)  // Cannot fail: tests use small numbers.
    }
    static let created = second(100)
    static let updated = second(200)
    static let now = second(300)

    static func fields(_ json: String) throws -> MapValue {
        try MapValue(json: JSONText(json).root)
    }

    static func value(_ json: String) throws -> Value {
        try Value(json: JSONText(json).root)
    }

    static func paths(_ texts: [String]) throws -> [FieldPath] {
        try texts.map { try FieldPath($0) }
    }

    static func document(_ json: String?) throws -> Document? {
        try json.map { Document(path: path, fields: try fields($0), createTime: created, updateTime: updated) }
    }
}

extension MapValue {
    var json: String {
        var writer = JSONWriter()
        write(to: &writer)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension Write {
    /// Returns the JSON of the fields after the write of a document with the fields `json`; `nil` for a missing document.
    func fields(of json: String?) throws -> String? {
        try applied(to: WriteFixtures.document(json), at: WriteFixtures.now).document?.fields.json
    }

    /// The mask of a patch, as strings.
    var maskTexts: [String]? {
        guard case .patch(_, let mask) = operation else { return nil }
        return mask.map(\.description)
    }
}
