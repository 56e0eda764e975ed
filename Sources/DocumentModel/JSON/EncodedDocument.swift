public import StrictJSON

/// A document as the store keeps and serves it: its metadata beside the compact JSON of its fields.
///
/// The fields are canonical: names in order, one spelling for each value. So equal documents have equal bytes, and a
/// response is made by splicing them in without looking at them.
public struct EncodedDocument: Sendable, Hashable {
    /// Where the document is.
    public let path: DocumentPath
    /// The commit time of the write that created it.
    public let createTime: Timestamp
    /// The commit time of the last write that changed it.
    public let updateTime: Timestamp
    /// The JSON form of the fields: an object, without white space.
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

    /// Takes fields that were encoded before.
    ///
    /// - Parameter fieldsJSON: What ``fieldsJSON`` of an encoded document was; it isn't checked here.
    public init(path: DocumentPath, createTime: Timestamp, updateTime: Timestamp, fieldsJSON: [UInt8]) {
        self.path = path
        self.createTime = createTime
        self.updateTime = updateTime
        self.fieldsJSON = fieldsJSON
    }

    /// The document with its fields as values.
    ///
    /// - Throws: ``StatusCode/dataLoss`` when the bytes were not made by encoding a document.
    public func decoded() throws(StatusError) -> Document {
        Document(path: path, fields: try decodedFields(), createTime: createTime, updateTime: updateTime)
    }

    /// Writes the form that a document has in responses, events and exports:
    /// `{"path": …, "fields": {…}, "createTime": "…Z", "updateTime": "…Z"}`.
    public func write(to writer: inout JSONWriter) {
        writer.beginObject()
        writer.key("path")
        writer.string(path.string)
        writer.key("fields")
        writer.raw(fieldsJSON)
        writer.key("createTime")
        writer.string(createTime.rfc3339)
        writer.key("updateTime")
        writer.string(updateTime.rfc3339)
        writer.endObject()
    }

    /// The document with no other fields than those that the mask names.
    ///
    /// A nested field keeps the maps around it and nothing else in them. A path that leads nowhere adds nothing, so an
    /// empty mask leaves no fields.
    ///
    /// - Throws: ``StatusCode/dataLoss`` when the bytes were not made by encoding a document.
    public func masked(_ mask: [FieldPath]) throws(StatusError) -> EncodedDocument {
        let fields = try decodedFields().masked(mask.sorted())
        return EncodedDocument(Document(path: path, fields: fields, createTime: createTime, updateTime: updateTime))
    }

    /// The fields with some names as values; those that the document lacks are left out.
    ///
    /// Costs a small part of ``decoded()`` where the document has many others.
    ///
    /// - Throws: ``StatusCode/dataLoss`` when the bytes were not made by encoding a document.
    package func fields(named names: [UTF8Key]) throws(StatusError) -> MapValue {
        try reading { root in
            // Names that begin with $ stand one level deeper.
            guard root.count > 1 else { return try MapValue(json: root) }
            var fields = MapValue()
            for name in names {
                if let node = root[name] { fields[name] = try Value(json: node) }
            }
            return fields
        }
    }

    private func decodedFields() throws(StatusError) -> MapValue {
        try reading { try MapValue(json: $0) }
    }

    private func reading(_ body: (JSONNode) throws -> MapValue) throws(StatusError) -> MapValue {
        do {
            return try body(JSONText(fieldsJSON, limits: DocumentFile.limits).root)
        } catch {
            throw StatusError(
                .dataLoss,
                "The encoded fields of the document can't be read: \(error)",
                path: path.string,
                cause: error
            )
        }
    }
}
