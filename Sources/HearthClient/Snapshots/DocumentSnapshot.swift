internal import DocumentModel
internal import StrictJSON

// All properties are constant, also those of the one class below this one.
/// A document as it was when it was read, or that it did not exist.
public class DocumentSnapshot: @unchecked Sendable {
    /// Where the document is.
    public let reference: DocumentReference
    /// What is known of the snapshot beside its data.
    public let metadata = SnapshotMetadata()
    /// Nil for a document that doesn't exist.
    let document: Document?

    init(_ document: Document?, of reference: DocumentReference) {
        self.reference = reference
        self.document = document
    }

    /// The document's id.
    public var documentID: String { reference.documentID }

    /// Whether the document exists.
    public var exists: Bool { document != nil }

    /// The fields; nil when the document doesn't exist.
    ///
    /// An integer is an `Int`, a double a `Double`, null an `NSNull`, bytes are `Data`; the other types are what they are called.
    public func data() -> [String: Any]? {
        document?.fields.dictionary(in: reference.firestore)
    }

    /// The fields; nil when the document doesn't exist.
    public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? {
        data()
    }

    /// A field by its path, a `String` with dots between the names or a ``FieldPath``; nil when there is none.
    public func get(_ field: Any) -> Any? {
        do throws(StatusError) {
            return document?.fields[try FieldPath(any: field)]?.any(in: reference.firestore)
        } catch {
            preconditionFailure(error.message)
        }
    }

    /// A field by its path, a `String` with dots between the names or a ``FieldPath``; nil when there is none.
    public func get(_ field: Any, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
        get(field)
    }

    /// A field by its path, a `String` with dots between the names or a ``FieldPath``; nil when there is none.
    public subscript(field: Any) -> Any? {
        self.get(field)
    }

    /// The document as a value of a type.
    ///
    /// - Throws: `DecodingError` with the coding path of what does not fit, and the document's path in its description; for a
    ///   document that does not exist `valueNotFound`, unless `type` is an optional, which is nil then.
    public func data<T: Decodable>(
        as type: T.Type,
        with serverTimestampBehavior: ServerTimestampBehavior = .none,
        decoder: Firestore.Decoder = .init()
    ) throws -> T {
        let value = document.map { Value.map($0.fields) } ?? .null
        return try decoder.decode(type, from: value, of: reference, in: reference.firestore)
    }
}

extension DocumentSnapshot: Hashable {
    /// Whether both are of the same place, and what was there was the same.
    public static func == (left: DocumentSnapshot, right: DocumentSnapshot) -> Bool {
        left.reference == right.reference && left.document == right.document
    }

    /// Hashes what `==` compares.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(document)
    }
}

/// A document of a query's result, which therefore exists.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
    private let fields: MapValue

    init(_ document: Document, in firestore: Firestore) {
        fields = document.fields
        super.init(document, of: DocumentReference(document.path, in: firestore))
    }

    /// The fields, as ``DocumentSnapshot/data()`` has them.
    public override func data() -> [String: Any] {
        fields.dictionary(in: reference.firestore)
    }

    /// The fields, as ``DocumentSnapshot/data()`` has them.
    public override func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any] {
        data()
    }
}
