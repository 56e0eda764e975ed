internal import DocumentModel
internal import UTF8Text

/// A reference to a document, which may or may not exist. Reads, writes and listens to the document.
public final class DocumentReference: Sendable {
    /// The database.
    public let firestore: Firestore
    let documentPath: DocumentPath

    init(_ path: DocumentPath, in firestore: Firestore) {
        self.firestore = firestore
        documentPath = path
    }

    /// The document ID: the last segment of the path.
    public var documentID: String { documentPath.id.key.string }

    /// The path relative to the database, such as `books/hitchhiker`.
    public var path: String { documentPath.string }

    /// The parent collection.
    public var parent: CollectionReference {
        CollectionReference(documentPath.collection, in: firestore)
    }

    /// Returns a reference to a subcollection, by its ID or its path relative to the document.
    ///
    /// - Precondition: The path is valid.
    public func collection(_ collectionPath: String) -> CollectionReference {
        CollectionReference(
            .trapping { () throws(StatusError) in try CollectionPath("\(path)/\(collectionPath)") },
            in: firestore
        )
    }
}

extension DocumentReference: Hashable, CustomStringConvertible {
    /// Returns whether two references have the same path and database.
    public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
        left.firestore === right.firestore && left.documentPath == right.documentPath
    }

    /// Hashes the components compared by `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(documentPath)
    }

    /// The path.
    public var description: String { path }
}

extension DocumentReference: Codable {
    /// Always throws: only ``Firestore/Decoder`` supports references.
    public convenience init(from decoder: any Swift.Decoder) throws {
        throw FirestoreDecodingError.decodingIsNotSupported("DocumentReference can only be decoded by Firestore.Decoder.")
    }

    /// Always throws: only ``Firestore/Encoder`` supports references.
    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported("DocumentReference can only be encoded by Firestore.Encoder.")
    }
}
