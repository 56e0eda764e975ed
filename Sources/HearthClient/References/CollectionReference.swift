internal import DocumentModel
internal import StrictJSON

/// Where documents are: a query for all of them, and what adds further ones.
public final class CollectionReference: Query, @unchecked Sendable {
    private let collection: CollectionPath

    init(_ collection: CollectionPath, in firestore: Firestore) {
        self.collection = collection
        super.init(.success(DocumentModel.Query(.collection(collection))), in: firestore)
    }

    /// The collection's id: the last part of its path.
    public var collectionID: String { collection.id.key.string }

    /// The path in the database, such as `books` or `books/hitchhiker/reviews`.
    public var path: String { collection.string }

    /// The document that the collection is below; nil at the top.
    public var parent: DocumentReference? {
        collection.parent.map { DocumentReference($0, in: firestore) }
    }

    /// A place for a new document, with an id that meets no other.
    public func document() -> DocumentReference {
        DocumentReference(collection.document(.automatic()), in: firestore)
    }

    /// A document in the collection, by its id or its path from here.
    ///
    /// A path that breaks the rules is a mistake in the program and ends it.
    public func document(_ documentPath: String) -> DocumentReference {
        DocumentReference(.trapping { () throws(StatusError) in try DocumentPath("\(path)/\(documentPath)") }, in: firestore)
    }
}

extension CollectionReference {
    /// Adds a document with an id of its own.
    @discardableResult
    nonisolated(nonsending) public func addDocument(data: [String: Any]) async throws -> DocumentReference {
        let document = document()
        try await document.setData(data)
        return document
    }

    /// Adds a document with an id of its own, and calls back once it is written.
    @discardableResult
    public func addDocument(data: [String: Any], completion: (((any Error)?) -> Void)? = nil) -> DocumentReference {
        let document = document()
        document.setData(data, completion: completion)
        return document
    }

    /// Encodes a value and adds a document of it, with an id of its own.
    ///
    /// It returns once the value is encoded, and the document is written in the background: `completion` is told how that went.
    ///
    /// - Throws: What ``Firestore/Encoder`` throws; nothing is written then.
    @discardableResult
    public func addDocument<T: Encodable>(
        from value: T,
        encoder: Firestore.Encoder = Firestore.Encoder(),
        completion: (((any Error)?) -> Void)? = nil
    ) throws -> DocumentReference {
        let document = document()
        try document.setData(from: value, encoder: encoder, completion: completion)
        return document
    }
}
