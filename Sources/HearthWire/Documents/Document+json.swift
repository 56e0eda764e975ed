package import DocumentModel
package import StrictJSON
package import UTF8Text

/// The members of a document: `{"path", "fields", "createTime", "updateTime"}`.
///
/// The writer is `EncodedDocument.write(to:)`, since the store keeps the same form.
package enum DocumentKeys {
    package static let path: UTF8Key = "path"
    package static let fields: UTF8Key = "fields"
    package static let createTime: UTF8Key = "createTime"
    package static let updateTime: UTF8Key = "updateTime"
}

extension Document {
    /// Parses a document, including its fields.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        let fields = try json.fields()
        self.init(
            path: try DocumentPath(json.string(DocumentKeys.path)),
            fields: try MapValue(json: fields),
            createTime: try Timestamp(rfc3339: json.string(DocumentKeys.createTime)),
            updateTime: try Timestamp(rfc3339: json.string(DocumentKeys.updateTime))
        )
    }

    /// Parses a document whose fields may be unreadable, which is then an error of this document alone.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one other than the fields.
    static func received(
        _ json: JSONNode
    ) throws(StatusError) -> (path: DocumentPath, document: Result<Document, StatusError>) {
        let fields = try json.fields()
        let path = try DocumentPath(json.string(DocumentKeys.path))
        let createTime = try Timestamp(rfc3339: json.string(DocumentKeys.createTime))
        let updateTime = try Timestamp(rfc3339: json.string(DocumentKeys.updateTime))
        do throws(StatusError) {
            let decoded = try MapValue(json: fields)
            return (path, .success(Document(path: path, fields: decoded, createTime: createTime, updateTime: updateTime)))
        } catch {
            return (
                path,
                .failure(
                    StatusError(
                        .dataLoss,
                        "The fields of the document cannot be decoded: \(error)",
                        path: path.string,
                        cause: error
                    )
                )
            )
        }
    }
}

extension EncodedDocument {
    /// Parses a document and keeps its fields as encoded by the sender.
    ///
    /// - Throws: `.internal` if a member is missing, or the error of an invalid one.
    package init(json: JSONNode) throws(StatusError) {
        let fields = try json.fields()
        self.init(
            path: try DocumentPath(json.string(DocumentKeys.path)),
            createTime: try Timestamp(rfc3339: json.string(DocumentKeys.createTime)),
            updateTime: try Timestamp(rfc3339: json.string(DocumentKeys.updateTime)),
            fieldsJSON: Array(fields.rawBytes)
        )
    }
}

extension JSONNode {
    fileprivate func fields() throws(StatusError) -> JSONNode {
        guard let fields = self[DocumentKeys.fields] else { throw .malformedResponse(self, expected: "a document with fields") }
        return fields
    }
}
