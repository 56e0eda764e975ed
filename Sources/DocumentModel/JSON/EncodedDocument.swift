public import StrictJSON
package import UTF8Text

/// A document with its fields encoded as compact JSON, as the store keeps and serves it.
///
/// The encoding is canonical: names are sorted, and each value has one representation. Equal documents have equal bytes,
/// and a response includes the bytes without decoding them.
public struct EncodedDocument: Sendable, Hashable {
    /// The path of the document.
    public let path: DocumentPath
    /// The commit time of the write that created it.
    public let createTime: Timestamp
    /// The commit time of the last write that changed it.
    public let updateTime: Timestamp
    /// The fields as a JSON object, without whitespace.
    public let fieldsJSON: [UInt8]

    /// Encodes a document.
    public init(_ document: Document) {
        var writer = JSONWriter(reservingCapacity: 256)
        document.fields.write(to: &writer)
        self.init(
            path: document.path,
            createTime: document.createTime,
            updateTime: document.updateTime,
            fieldsJSON: writer.finish()
        )
    }

    /// Creates a document from encoded fields.
    ///
    /// - Parameter fieldsJSON: The ``fieldsJSON`` of an encoded document. It is not validated.
    public init(path: DocumentPath, createTime: Timestamp, updateTime: Timestamp, fieldsJSON: [UInt8]) {
        self.path = path
        self.createTime = createTime
        self.updateTime = updateTime
        self.fieldsJSON = fieldsJSON
    }

    /// Decodes the fields.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the bytes are not a valid encoding.
    public func decoded() throws(StatusError) -> Document {
        Document(path: path, fields: try decodedFields(), createTime: createTime, updateTime: updateTime)
    }

    /// Writes the JSON representation of the document in responses, events and exports:
    /// `{"path": …, "fields": {…}, "createTime": "…Z", "updateTime": "…Z"}`.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writeMembers(to: &writer)
        writer.endObject()
    }

    /// Writes the members of the document into an object that may have others.
    package func writeMembers(to writer: inout JSONWriter) {
        writer.key("path")
        writer.string(path.string)
        writer.key("fields")
        writer.raw(fieldsJSON)
        writer.key("createTime")
        writer.string(createTime.rfc3339)
        writer.key("updateTime")
        writer.string(updateTime.rfc3339)
    }

    /// Returns the document with only the fields in the mask.
    ///
    /// A nested field keeps its parent maps without their other members. Paths of missing fields are ignored, so an empty mask
    /// returns no fields.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the bytes are not a valid encoding.
    public func masked(_ mask: [FieldPath]) throws(StatusError) -> EncodedDocument {
        let fields = try decodedFields().masked(mask.sorted())
        return EncodedDocument(Document(path: path, fields: fields, createTime: createTime, updateTime: updateTime))
    }

    /// Decodes the top-level fields with the given names; missing ones are omitted.
    ///
    /// Much cheaper than ``decoded()`` if the document has many other fields.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the bytes are not a valid encoding.
    package func fields(named names: [UTF8Key]) throws(StatusError) -> MapValue {
        // A query by name needs none.
        guard !names.isEmpty else { return MapValue() }
        return try decoding { root in
            // Fields are one level deeper in $map.
            guard root.count > 1 else { return try MapValue(json: root) }
            var fields = MapValue()
            for name in names {
                if let node = root[name] { fields[name] = try Value(json: node) }
            }
            return fields
        }
    }

    private func decodedFields() throws(StatusError) -> MapValue {
        try decoding { try MapValue(json: $0) }
    }

    private func decoding<Fields>(_ body: (JSONNode) throws -> Fields) throws(StatusError) -> Fields {
        do {
            return try body(JSONText(fieldsJSON, limits: DocumentFile.limits).root)
        } catch {
            throw damagedFieldsError(error)
        }
    }

    /// Returns the error for stored fields that cannot be read.
    package func damagedFieldsError(_ cause: any Error) -> StatusError {
        StatusError(.dataLoss, "The stored fields of the document are damaged: \(cause)", path: path.string, cause: cause)
    }
}
