package import DocumentModel
package import StrictJSON
import UTF8Text

/// One line of an import or export file: `{"path":"books/hitchhiker","fields":{…}}`.
///
/// The JSON form of the fields preserves all types and values. Lines may have times, as those that `hearth get` prints; a server that
/// imports them sets its own.
package struct DocumentExportLine: Sendable {
    /// The path of the document.
    package let path: DocumentPath
    /// The fields of the document.
    package let fields: MapValue
    /// The create time; `nil` if the line has none.
    package let createTime: Timestamp?
    /// The update time; `nil` if the line has none.
    package let updateTime: Timestamp?

    /// The maximum length of a line: a document of the maximum size with all characters escaped.
    package static let maximumBytes = 16 << 20

    /// Parses a line and validates the document.
    package init(_ bytes: [UInt8]) throws(StatusError) {
        let json: JSONNode
        do {
            json = try JSONText(bytes, limits: JSONLimits(maximumBytes: Self.maximumBytes)).root
        } catch {
            throw StatusError(.invalidArgument, "Invalid JSON: \(error.reason), at column \(error.column).")
        }
        try self.init(json)
    }

    /// Decodes a line from JSON and validates the document.
    package init(_ json: JSONNode) throws(StatusError) {
        guard let members = json.members else { throw Self.malformed("Expected an object, found \(json.kind).") }
        for (name, _) in members where !Self.names.contains(name) {
            throw Self.malformed("Unknown member \(Excerpt(name.string)).")
        }
        guard let path = json["path"]?.string else { throw Self.malformed("Expected a string named path.") }
        guard let fields = json["fields"], fields.kind == .object else {
            throw Self.malformed("Expected an object named fields.")
        }
        self.path = try DocumentPath(path)
        createTime = try Self.time("createTime", in: json)
        updateTime = try Self.time("updateTime", in: json)
        do {
            self.fields = try MapValue(json: fields)
            try Document.validate(self.fields, at: self.path)
        } catch {
            var error = error
            error.path = path
            throw error
        }
    }

    /// Encodes a document as a line, without the line feed.
    ///
    /// - Parameter includesTimes: True to write its create and update times.
    package static func bytes(of document: EncodedDocument, includingTimes includesTimes: Bool = false) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: document.fieldsJSON.count + 128)
        if includesTimes {
            document.write(to: &writer)
            return writer.finish()
        }
        writer.beginObject()
        writer.key("path")
        writer.string(document.path.string)
        writer.key("fields")
        writer.raw(document.fieldsJSON)
        writer.endObject()
        return writer.finish()
    }

    private static let names: Set<UTF8Key> = ["path", "fields", "createTime", "updateTime"]

    private static func time(_ name: UTF8Key, in json: JSONNode) throws(StatusError) -> Timestamp? {
        guard let node = json[name] else { return nil }
        guard let time = node.string.flatMap({ try? Timestamp(rfc3339: $0) }) else {
            throw StatusError(.invalidArgument, "Expected \(name) to be a time such as \"2026-01-02T03:04:05Z\".")
        }
        return time
    }

    private static func malformed(_ problem: String) -> StatusError {
        StatusError(.invalidArgument, "\(problem) A line has the form {\"path\":\"collection/document\",\"fields\":{…}}.")
    }
}
