import DocumentModel
import DocumentStore
import FirestoreAPI
import FirestoreMessages
import FirestoreProto
import HearthAPI
import SwiftProtobuf

extension ProtoDocument {
    /// Encodes a document.
    ///
    /// - Throws: ``StatusCode/dataLoss`` if the stored fields are damaged.
    init(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) {
        self.init()
        name = database.name(of: document.path)
        fields = try document.decoded().fields.map { ProtoFieldEntry($0.key, $0.value, in: database) }
        createTime = Google_Protobuf_Timestamp(document.createTime)
        updateTime = Google_Protobuf_Timestamp(document.updateTime)
    }
}

extension DocumentMessage {
    init(_ message: ProtoDocument, in database: DatabaseName) throws(StatusError) {
        try self.init(
            name: message.name,
            StatusError.locating(in: "fields") { () throws(StatusError) in try MapValue(message.fields, in: database) },
            in: database
        )
    }
}

extension [FieldPath] {
    init(_ mask: ProtoDocumentMask) throws(StatusError) {
        self = try StatusError.locating(elementsOf: mask.fieldPaths, in: "fieldPaths") { text throws(StatusError) in
            try FieldPath(text)
        }
    }

    /// Decodes a mask, or returns `nil` if it is absent.
    static func mask(
        _ mask: ProtoDocumentMask?,
        in field: String
    ) throws(StatusError) -> [FieldPath]? {
        guard let mask else { return nil }
        return try StatusError.locating(in: field) { () throws(StatusError) in try [FieldPath](mask) }
    }
}

extension ProtoWriteResult {
    init(_ result: WriteResult, in database: DatabaseName) {
        self.init()
        if let time = result.updateTime { updateTime = Google_Protobuf_Timestamp(time) }
        transformResults = result.transformResults.map { ProtoValue($0, in: database) }
    }
}

extension ProtoStatus {
    /// Encodes the outcome of a write of a batch, empty for a success.
    init(_ outcome: BatchWrite.Outcome) {
        self.init()
        guard case .failure(let error) = outcome else { return }
        code = Int32(error.code.rawValue)
        message = error.messageWithLocation
    }
}
