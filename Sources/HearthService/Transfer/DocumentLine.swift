package import DocumentModel
package import StrictJSON

/// One line of an import or export file: `{"path":"books/hitchhiker","fields":{…}}`.
///
/// The fields are in the JSON form of values, which keeps every type and bit. Times are not part of a line: the server that
/// takes the document sets its own. Lines that have them, as `hearth get` prints, are taken all the same.
package struct DocumentLine: Sendable {
    /// The document.
    package let path: DocumentPath
    /// What it holds.
    package let fields: MapValue

    /// The longest line that is read: what a document of the largest size can take when all of it is escaped.
    package static let maximumBytes = 16 << 20

    /// Reads a line and checks that the document is one that a server takes.
    package init(_ bytes: [UInt8]) throws(StatusError) {
        let json: JSONNode
        do {
            json = try JSONText(bytes, limits: JSONLimits(maximumBytes: Self.maximumBytes)).root
        } catch {
            throw StatusError(.invalidArgument, "Not JSON: \(error.reason), at column \(error.column).")
        }
        try self.init(json)
    }

    /// Takes a line that was read as JSON.
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
        do {
            self.fields = try MapValue(json: fields)
            try Document.validate(self.fields, at: self.path)
        } catch {
            var error = error
            error.path = path
            throw error
        }
    }

    /// Writes a document as a line, without the line feed.
    package static func bytes(of document: EncodedDocument) -> [UInt8] {
        var writer = JSONWriter(reservingCapacity: document.fieldsJSON.count + 128)
        writer.beginObject()
        writer.key("path")
        writer.string(document.path.string)
        writer.key("fields")
        writer.raw(document.fieldsJSON)
        writer.endObject()
        return writer.finish()
    }

    private static let names: Set<UTF8Key> = ["path", "fields", "createTime", "updateTime"]

    private static func malformed(_ problem: String) -> StatusError {
        StatusError(.invalidArgument, "\(problem) A line is {\"path\":\"collection/document\",\"fields\":{…}}.")
    }
}
