internal import DocumentModel
internal import UTF8Text

/// A reference to a collection, which is also a query for all its documents.
public final class CollectionReference: Query, @unchecked Sendable {
    private let collection: CollectionPath

    init(_ collection: CollectionPath, in firestore: Firestore) {
        self.collection = collection
        super.init(.success(StructuredQuery(.collection(collection))), in: firestore)
    }

    /// The collection ID: the last segment of the path.
    public var collectionID: String { collection.id.key.string }

    /// The path relative to the database, such as `books` or `books/hitchhiker/reviews`.
    public var path: String { collection.string }

    /// The parent document; `nil` for a root collection.
    public var parent: DocumentReference? {
        collection.parent.map { DocumentReference($0, in: firestore) }
    }

    /// Returns a reference to a new document with a generated unique ID.
    public func document() -> DocumentReference {
        DocumentReference(collection.document(.automatic()), in: firestore)
    }

    /// Returns a reference to a document, by its ID or its path relative to the collection.
    ///
    /// - Precondition: The path is valid.
    public func document(_ documentPath: String) -> DocumentReference {
        DocumentReference(.trapping { () throws(StatusError) in try DocumentPath("\(path)/\(documentPath)") }, in: firestore)
    }
}
