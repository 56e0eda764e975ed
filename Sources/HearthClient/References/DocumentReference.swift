internal import DocumentModel
internal import StrictJSON

/// Where a document is, whether it exists or not; what reads, writes and listens to it.
public final class DocumentReference: Sendable {
    /// The database.
    public let firestore: Firestore
    let documentPath: DocumentPath

    init(_ path: DocumentPath, in firestore: Firestore) {
        self.firestore = firestore
        documentPath = path
    }

    /// The document's id: the last part of its path.
    public var documentID: String { documentPath.id.key.string }

    /// The path in the database, such as `books/hitchhiker`.
    public var path: String { documentPath.string }

    /// The collection that the document is in.
    public var parent: CollectionReference {
        CollectionReference(documentPath.collection, in: firestore)
    }

    /// A collection below the document, by its id or its path from here.
    ///
    /// A path that breaks the rules is a mistake in the program and ends it.
    public func collection(_ collectionPath: String) -> CollectionReference {
        CollectionReference(
            .trapping { () throws(StatusError) in try CollectionPath("\(path)/\(collectionPath)") },
            in: firestore
        )
    }
}

extension DocumentReference: Hashable, CustomStringConvertible {
    /// Whether both are the same place in the same database.
    public static func == (left: DocumentReference, right: DocumentReference) -> Bool {
        left.firestore === right.firestore && left.documentPath == right.documentPath
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(documentPath)
    }

    /// The path.
    public var description: String { path }
}

extension DocumentReference: Codable {
    /// Always throws: ``Firestore/Decoder`` takes references as they are, and other decoders know no database.
    public convenience init(from decoder: any Swift.Decoder) throws {
        throw FirestoreDecodingError.decodingIsNotSupported("DocumentReference can only be decoded by Firestore.Decoder.")
    }

    /// Always throws: ``Firestore/Encoder`` takes references as they are, and other encoders can't write them.
    public func encode(to encoder: any Swift.Encoder) throws {
        throw FirestoreEncodingError.encodingIsNotSupported("DocumentReference can only be encoded by Firestore.Encoder.")
    }
}
