import DocumentModel
import FirestoreAPI
import FirestoreMessages
import FirestoreProto

extension Write {
    /// Decodes a write. The contents are not validated.
    ///
    /// - Throws: ``StatusCode/invalidArgument`` for an incomplete message, and for names in another database.
    init(_ message: ProtoWrite, in database: DatabaseName) throws(StatusError) {
        try self.init(
            MessageOperation(message, in: database),
            mask: .mask(message.hasUpdateMask ? message.updateMask : nil, in: "updateMask"),
            transforms: [FieldTransform](message.updateTransforms, in: "updateTransforms", of: database),
            precondition: Precondition(message.hasCurrentDocument ? message.currentDocument : nil)
        )
    }
}

extension Write.MessageOperation {
    /// Decodes the operation, or returns `nil` if it is absent.
    fileprivate init?(_ message: ProtoWrite, in database: DatabaseName) throws(StatusError) {
        func document(_ name: String, in field: String) throws(StatusError) -> DocumentPath {
            try StatusError.locating(in: field) { () throws(StatusError) in try database.document(named: name) }
        }
        switch message.operation {
        case .update(let message)?:
            self = .update(
                try StatusError.locating(in: "update") { () throws(StatusError) in try DocumentMessage(message, in: database) }
            )
        case .delete(let name)?: self = .delete(try document(name, in: "delete"))
        case .verify(let name)?: self = .verify(try document(name, in: "verify"))
        case .transform(let transform)?:
            self = try StatusError.locating(in: "transform") { () throws(StatusError) in
                .transform(
                    transform.document.utf8.isEmpty ? nil : try document(transform.document, in: "document"),
                    try [FieldTransform](transform.fieldTransforms, in: "fieldTransforms", of: database)
                )
            }
        case nil: return nil
        }
    }
}

extension [FieldTransform] {
    fileprivate init(
        _ messages: [ProtoDocumentTransform.FieldTransform],
        in field: String,
        of database: DatabaseName
    ) throws(StatusError) {
        self = try StatusError.locating(elementsOf: messages, in: field) { message throws(StatusError) in
            try FieldTransform(message, in: database)
        }
    }
}

extension FieldTransform {
    fileprivate init(_ message: ProtoDocumentTransform.FieldTransform, in database: DatabaseName) throws(StatusError) {
        let field =
            try message.fieldPath.utf8.isEmpty
            ? nil : StatusError.locating(in: "fieldPath") { () throws(StatusError) in try FieldPath(message.fieldPath) }
        func operand(_ operand: ProtoValue, in field: String) throws(StatusError) -> Value {
            try StatusError.locating(in: field) { () throws(StatusError) in try Value(operand, in: database) }
        }
        func elements(_ array: ProtoArrayValue, in field: String) throws(StatusError) -> [Value] {
            try StatusError.locating(in: field) { () throws(StatusError) in try Value.elements(array, in: database) }
        }
        let operation: Operation? =
            switch message.transformType {
            case .setToServerValue(let value)?: try Self.serverValues.value(ofField: value.rawValue)
            case .increment(let value)?: .increment(try operand(value, in: "increment"))
            case .maximum(let value)?: .maximum(try operand(value, in: "maximum"))
            case .minimum(let value)?: .minimum(try operand(value, in: "minimum"))
            case .appendMissingElements(let array)?: .arrayUnion(try elements(array, in: "appendMissingElements"))
            case .removeAllFromArray(let array)?: .arrayRemove(try elements(array, in: "removeAllFromArray"))
            case nil: nil
            }
        try self.init(field: field, operation: operation)
    }
}

extension Precondition {
    /// Decodes a precondition; ``none`` if it is absent.
    init(_ message: ProtoPrecondition?) throws(StatusError) {
        switch message?.conditionType {
        case .exists(let exists)?: self = .exists(exists)
        case .updateTime(let time)?:
            // No document has an update time finer than microseconds; truncating this one could make it match.
            self = .updateTime(
                try StatusError.locating(in: "currentDocument.updateTime") { () throws(StatusError) in
                    try Timestamp(exactly: time)
                }
            )
        case nil: self = .none
        }
    }
}
