import DocumentModel
import StrictJSON

extension Write {
    private static let fields: [ProtoField] = [
        "update", "delete", "transform", "updateMask", "updateTransforms", "currentDocument",
    ]

    /// Decodes a write: `{"update": {…}}`, `{"delete": "name"}` or the legacy `{"transform": {…}}`, with mask, transforms and
    /// precondition. The contents are not validated; see ``validate()``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a malformed message.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        let mask = try message.read("updateMask") { node throws(StatusError) in try [FieldPath](mask: node) }
        let write = try message.oneOf(
            (
                "update",
                { node throws(StatusError) in
                    let document = try DocumentMessage(node, in: database)
                    guard let path = document.path else { throw StatusError(.invalidArgument, "name is required in a document.") }
                    return Write(path, document.fields, mask: mask)
                }
            ),
            ("delete", { node throws(StatusError) in .delete(try database.document(named: node.stringField())) }),
            ("transform", { node throws(StatusError) in try Write(transform: node, in: database) })
        )
        guard var write else {
            throw StatusError(.invalidArgument, "Expected one of update, delete and transform, found none.")
        }
        write.transforms += try message.repeated("updateTransforms") { node throws(StatusError) in
            try FieldTransform(node, in: database)
        }
        write.precondition =
            try message.read("currentDocument") { node throws(StatusError) in try Precondition(node) } ?? .none
        self = write
    }

    /// Creates a write that replaces a document, or updates the fields in a mask.
    init(_ path: DocumentPath, _ fields: MapValue, mask: [FieldPath]?) {
        self.init(path: path, operation: mask.map { .patch(fields, mask: $0) } ?? .replace(fields))
    }

    /// Validates the document, its fields and transforms.
    func validate() throws(StatusError) {
        switch operation {
        case .replace(let fields): try Document.validate(fields, at: path)
        case .patch(let fields, let mask):
            try fields.validate()
            for field in mask { try field.validate() }
        case .delete: break
        }
        for transform in transforms { try transform.validate() }
    }

    private static let transformFields: [ProtoField] = ["document", "fieldTransforms"]

    private init(transform node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.transformFields)
        guard
            let path = try message.read(
                "document",
                { node throws(StatusError) in
                    try database.document(named: node.stringField())
                }
            )
        else { throw StatusError(.invalidArgument, "document is required in a transform.") }
        let transforms = try message.repeated("fieldTransforms") { node throws(StatusError) in
            try FieldTransform(node, in: database)
        }
        self.init(path: path, operation: .patch(MapValue(), mask: []), transforms: transforms)
    }
}

extension [FieldPath] {
    private static let maskFields: [ProtoField] = ["fieldPaths"]

    /// Decodes a mask: `{"fieldPaths": ["a", "b.c"]}`.
    init(mask node: JSONNode) throws(StatusError) {
        self = try ProtoMessage(node, fields: Self.maskFields).repeated("fieldPaths") { node throws(StatusError) in
            try FieldPath(node.stringField())
        }
    }
}

/// A document in a request. Its create and update times are ignored.
struct DocumentMessage {
    /// The path, or `nil` if the message has no name.
    let path: DocumentPath?
    let fields: MapValue

    private static let messageFields: [ProtoField] = ["name", "fields", "createTime", "updateTime"]

    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.messageFields)
        path =
            try message.read("name") { node throws(StatusError) in
                let name = try node.stringField()
                return name.utf8.isEmpty ? nil : try database.document(named: name)
            } ?? nil
        var fields = MapValue()
        _ = try message.read("fields") { node throws(StatusError) in fields = try MapValue(fields: node, in: database) }
        self.fields = fields
    }
}
