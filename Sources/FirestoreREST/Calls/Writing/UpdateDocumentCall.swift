import DocumentModel
import DocumentStore
import HearthService
import StrictJSON

/// `PATCH …/documents/COLLECTION/DOCUMENT`
struct UpdateDocumentCall: Call {
    private let database: DatabaseName
    private let path: DocumentPath
    private let updateMask: [FieldPath]?
    private let mask: [FieldPath]?
    private let precondition: Precondition

    static let right = UpdateDocument.right
    static let parameters: [MessageField] = .parameters(
        "updateMask.fieldPaths",
        "mask.fieldPaths",
        "currentDocument.exists",
        "currentDocument.updateTime"
    )

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        path = try address.document()
        updateMask = try parameters.mask("updateMask.fieldPaths")
        mask = try parameters.mask("mask.fieldPaths")
        precondition = try parameters.precondition()
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try DocumentMessage(body, in: database)
        guard message.path == nil || message.path == path else {
            throw StatusError(.invalidArgument, "The document's name is another one than that of the path.")
        }
        var write = Write(path, message.fields, mask: updateMask)
        try write.validate()
        write.precondition = precondition
        let time = try await context.commit(write).commitTime
        // As it was then: another writer may have changed it by now.
        let document = try await GetDocument.call(.init(path: path, mask: mask, at: ReadPoint(readTime: time)), in: context)
        return try .document(document, in: database)
    }
}

/// `DELETE …/documents/COLLECTION/DOCUMENT`
struct DeleteDocumentCall: Call {
    private let write: Write

    static let right = DeleteDocument.right
    static let parameters: [MessageField] = .parameters("currentDocument.exists", "currentDocument.updateTime")
    static let takesBody = false

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        write = .delete(try address.document(), precondition: try parameters.precondition())
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        try await DeleteDocument.call(write, in: context)
        return .empty
    }
}
