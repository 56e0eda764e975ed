import DocumentModel
import StrictJSON

extension Write {
    private static let fields: [MessageField] = [
        "update", "delete", "transform", "updateMask", "updateTransforms", "currentDocument",
    ]

    /// Reads a write: `{"update": {…}}`, `{"delete": "name"}` or the older `{"transform": {…}}`, with mask, transforms and
    /// precondition. What it writes is still to be checked, see ``validate()``.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a wrong form.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.fields)
        let mask = try message.read("updateMask") { node throws(StatusError) in try [FieldPath](mask: node) }
        let write = try message.one(
            of: (
                "update",
                { node throws(StatusError) in
                    let document = try DocumentMessage(node, in: database)
                    guard let path = document.path else { throw StatusError(.invalidArgument, "The document needs its name.") }
                    return Write(path, document.fields, mask: mask)
                }
            ),
            ("delete", { node throws(StatusError) in .delete(try database.document(named: node.stringField())) }),
            ("transform", { node throws(StatusError) in try Write(transform: node, in: database) })
        )
        guard var write else {
            throw StatusError(.invalidArgument, "A write has exactly one of update, delete and transform; found none.")
        }
        write.transforms += try message.list("updateTransforms") { node throws(StatusError) in
            try FieldTransform(node, in: database)
        }
        write.precondition =
            try message.read("currentDocument") { node throws(StatusError) in try Precondition(node) } ?? .none
        self = write
    }

    /// Makes the write of a document: all of it, or only the fields of a mask.
    init(_ path: DocumentPath, _ fields: MapValue, mask: [FieldPath]?) {
        self.init(path: path, operation: mask.map { .patch(fields, mask: $0) } ?? .replace(fields))
    }

    /// Checks the rules for documents, fields and transforms.
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

    private static let transformFields: [MessageField] = ["document", "fieldTransforms"]

    private init(transform node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.transformFields)
        guard
            let path = try message.read(
                "document",
                { node throws(StatusError) in
                    try database.document(named: node.stringField())
                }
            )
        else { throw StatusError(.invalidArgument, "The transform needs the name of its document.") }
        let transforms = try message.list("fieldTransforms") { node throws(StatusError) in
            try FieldTransform(node, in: database)
        }
        self.init(path: path, operation: .patch(MapValue(), mask: []), transforms: transforms)
    }
}

extension [FieldPath] {
    private static let maskFields: [MessageField] = ["fieldPaths"]

    /// Reads a mask: `{"fieldPaths": ["a", "b.c"]}`.
    init(mask node: JSONNode) throws(StatusError) {
        self = try Message(node, fields: Self.maskFields).list("fieldPaths") { node throws(StatusError) in
            try FieldPath(node.stringField())
        }
    }
}

/// A document as a client sends it. Its times are the server's, and not looked at.
struct DocumentMessage {
    /// Where it is; nil where it has no name.
    let path: DocumentPath?
    let fields: MapValue

    private static let fieldsOfMessage: [MessageField] = ["name", "fields", "createTime", "updateTime"]

    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try Message(node, fields: Self.fieldsOfMessage)
        path =
            try message.read("name") { node throws(StatusError) in
                let name = try node.stringField()
                return name.utf8.isEmpty ? nil : try database.document(named: name)
            } ?? nil
        var fields = MapValue()
        // The error's field says where.
        _ = try message.read("fields") { node throws(StatusError) in fields = try MapValue(fields: node, in: database) }
        self.fields = fields
    }
}
