internal import DocumentModel
internal import StrictJSON

extension Document {
    /// Takes a document from an answer, with its fields as values.
    init(rpc json: JSONNode) throws(StatusError) {
        guard let fields = json["fields"] else { throw .unreadable(json, expected: "a document with fields") }
        self.init(
            path: try DocumentPath(json.string("path")),
            fields: try MapValue(json: fields),
            createTime: try Timestamp(rfc3339: json.string("createTime")),
            updateTime: try Timestamp(rfc3339: json.string("updateTime"))
        )
    }
}

extension EncodedDocument {
    /// Takes a document from an answer; its fields stay the bytes that the server sent.
    init(rpc json: JSONNode) throws(StatusError) {
        guard let fields = json["fields"] else { throw .unreadable(json, expected: "a document with fields") }
        self.init(
            path: try DocumentPath(json.string("path")),
            createTime: try Timestamp(rfc3339: json.string("createTime")),
            updateTime: try Timestamp(rfc3339: json.string("updateTime")),
            fieldsJSON: Array(fields.rawBytes)
        )
    }
}

extension WriteResult {
    init(rpc json: JSONNode) throws(StatusError) {
        let transformResults = json["transformResults"] == nil ? [] : try json.array("transformResults")
        self.init(
            updateTime: try json["updateTime"]?.string.map { text throws(StatusError) in try Timestamp(rfc3339: text) },
            transformResults: try transformResults.map { json throws(StatusError) in try Value(json: json) }
        )
    }
}

extension JSONNode {
    /// The string that the member of that name is.
    func string(_ name: UTF8Key) throws(StatusError) -> String {
        guard let string = self[name]?.string else { throw .unreadable(self, expected: "a string named \(name)") }
        return string
    }

    /// The elements of the array that the member of that name is.
    func array(_ name: UTF8Key) throws(StatusError) -> [JSONNode] {
        guard let elements = self[name]?.elements else { throw .unreadable(self, expected: "an array named \(name)") }
        return Array(elements)
    }
}

extension StatusError {
    /// A part of an answer is not what this version of Hearth says.
    static func unreadable(_ json: JSONNode, expected: String) -> StatusError {
        let found = Excerpt(String(decoding: json.rawBytes.prefix(200), as: UTF8.self))
        return StatusError(.internal, "The server's answer can't be read: expected \(expected), found \(found).")
    }
}
