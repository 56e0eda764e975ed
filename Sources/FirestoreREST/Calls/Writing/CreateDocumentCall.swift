import DocumentModel
import HearthService
import StrictJSON

/// `POST …/documents/COLLECTION`
struct CreateDocumentCall: Call {
    private let database: DatabaseName
    private let collection: CollectionPath
    private let id: DocumentID
    private let mask: [FieldPath]?

    static let right = CreateDocument.right
    static let parameters: [MessageField] = .parameters("documentId", "mask.fieldPaths")

    init(_ address: Address, _ parameters: URLParameters) throws(StatusError) {
        database = address.database
        collection = try address.collection()
        id = try parameters.text("documentId").map { text throws(StatusError) in try DocumentID(text) } ?? .automatic()
        mask = try parameters.mask("mask.fieldPaths")
    }

    func answer(to body: JSONNode, in context: ServiceContext) async throws(StatusError) -> FirestoreAnswer {
        let message = try DocumentMessage(body, in: database)
        try Document.validate(message.fields, at: collection.document(id))
        var document = try await CreateDocument.call(
            .init(collection: collection, id: id, fields: message.fields),
            in: context
        )
        if let mask { document = try document.masked(mask) }
        return try .document(document, in: database)
    }
}

extension FirestoreAnswer {
    /// The answer of one document.
    static func document(_ document: EncodedDocument, in database: DatabaseName) throws(StatusError) -> FirestoreAnswer {
        var writer = JSONWriter(reservingCapacity: 512 + 2 * document.fieldsJSON.count)
        try writer.write(document, in: database)
        return FirestoreAnswer(.message(writer.finish()))
    }
}
