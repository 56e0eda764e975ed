internal import DocumentModel
internal import StrictJSON
internal import UTF8Text

extension Document {
    /// Parses a document, including its fields.
    init(rpc json: JSONNode) throws(StatusError) {
        guard let fields = json["fields"] else { throw .malformedResponse(json, expected: "a document with fields") }
        self.init(
            path: try DocumentPath(json.string("path")),
            fields: try MapValue(json: fields),
            createTime: try Timestamp(rfc3339: json.string("createTime")),
            updateTime: try Timestamp(rfc3339: json.string("updateTime"))
        )
    }
}

extension EncodedDocument {
    /// Parses a document and keeps its fields as encoded by the server.
    init(rpc json: JSONNode) throws(StatusError) {
        guard let fields = json["fields"] else { throw .malformedResponse(json, expected: "a document with fields") }
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
    /// Returns the string value of a member.
    func string(_ name: UTF8Key) throws(StatusError) -> String {
        guard let string = self[name]?.string else { throw .malformedResponse(self, expected: "a string named \(name)") }
        return string
    }

    /// Returns the elements of an array member.
    func array(_ name: UTF8Key) throws(StatusError) -> [JSONNode] {
        guard let elements = self[name]?.elements else { throw .malformedResponse(self, expected: "an array named \(name)") }
        return Array(elements)
    }
}

extension StatusError {
    /// Returns the error for a response with an unexpected structure.
    static func malformedResponse(_ json: JSONNode, expected: String) -> StatusError {
        let found = Excerpt(String(decoding: json.rawBytes.prefix(200), as: UTF8.self))
        return StatusError(.internal, "Malformed response: expected \(expected), found \(found).")
    }
}
