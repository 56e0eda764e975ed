import DocumentModel
import FirestoreAPI
import FirestoreMessages
import StrictJSON

extension Write {
    private static let fields: [ProtoField] = [
        "update", "delete", "transform", "verify", "updateMask", "updateTransforms", "currentDocument",
    ]

    /// Decodes a write: `{"update": {…}}`, `{"delete": "name"}`, `{"verify": "name"}` or the legacy `{"transform": {…}}`, with
    /// mask, transforms and precondition. The contents are not validated; see ``validate()``.
    ///
    /// `verify` is in the definitions of the official SDKs only, which commit transactions with it.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for a malformed message.
    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.fields)
        func document(_ node: JSONNode) throws(StatusError) -> DocumentPath {
            try database.document(named: node.stringField())
        }
        let operation: MessageOperation? = try message.oneOf(
            ("update", { node throws(StatusError) in .update(try DocumentMessage(node, in: database)) }),
            ("delete", { node throws(StatusError) in .delete(try document(node)) }),
            ("transform", { node throws(StatusError) in try .transform(node, in: database) }),
            ("verify", { node throws(StatusError) in .verify(try document(node)) })
        )
        try self.init(
            operation,
            mask: message.read("updateMask") { node throws(StatusError) in try [FieldPath](mask: node) },
            transforms: message.repeated("updateTransforms") { node throws(StatusError) in
                try FieldTransform(node, in: database)
            },
            precondition: message.read("currentDocument") { node throws(StatusError) in try Precondition(node) } ?? .none
        )
    }
}

extension Write.MessageOperation {
    private static let transformFields: [ProtoField] = ["document", "fieldTransforms"]

    /// Decodes a `DocumentTransform`.
    fileprivate static func transform(
        _ node: JSONNode,
        in database: DatabaseName
    ) throws(StatusError) -> Write.MessageOperation {
        let message = try ProtoMessage(node, fields: transformFields)
        return .transform(
            try message.read("document") { node throws(StatusError) in try database.document(named: node.stringField()) },
            try message.repeated("fieldTransforms") { node throws(StatusError) in try FieldTransform(node, in: database) }
        )
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

extension DocumentMessage {
    private static let messageFields: [ProtoField] = ["name", "fields", "createTime", "updateTime"]

    init(_ node: JSONNode, in database: DatabaseName) throws(StatusError) {
        let message = try ProtoMessage(node, fields: Self.messageFields)
        try self.init(
            name: message.read("name") { node throws(StatusError) in try node.stringField() } ?? "",
            message.read("fields") { node throws(StatusError) in try MapValue(fields: node, in: database) } ?? MapValue(),
            in: database
        )
    }
}
