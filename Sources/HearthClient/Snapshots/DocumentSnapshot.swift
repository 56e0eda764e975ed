internal import DocumentModel

// Sendable: all properties, including those of the only subclass, are immutable.
/// The state of a document when it was read.
public class DocumentSnapshot: @unchecked Sendable {
    /// The reference to the document.
    public let reference: DocumentReference
    /// The metadata of the snapshot.
    public let metadata = SnapshotMetadata()
    /// The document; `nil` if it doesn't exist.
    let document: Document?

    init(_ document: Document?, of reference: DocumentReference) {
        self.reference = reference
        self.document = document
    }

    /// The document ID.
    public var documentID: String { reference.documentID }

    /// True if the document exists.
    public var exists: Bool { document != nil }

    /// Returns the fields; `nil` if the document doesn't exist.
    ///
    /// Integers are returned as `Int`, doubles as `Double`, null as `NSNull` and bytes as `Data`.
    public func data() -> [String: Any]? {
        document?.fields.dictionary(in: reference.firestore)
    }

    /// Returns the fields; `nil` if the document doesn't exist.
    public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? {
        data()
    }

    /// Returns the value of a field, given by a dotted `String` or a ``FieldPath``; `nil` if the field doesn't exist.
    public func get(_ field: Any) -> Any? {
        do throws(StatusError) {
            return document?.fields[try FieldPath(any: field)]?.any(in: reference.firestore)
        } catch {
            preconditionFailure(error.message)
        }
    }

    /// Returns the value of a field, given by a dotted `String` or a ``FieldPath``; `nil` if the field doesn't exist.
    public func get(_ field: Any, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
        get(field)
    }

    /// The value of a field, given by a dotted `String` or a ``FieldPath``; `nil` if the field doesn't exist.
    public subscript(field: Any) -> Any? {
        self.get(field)
    }

    /// Decodes the document.
    ///
    /// - Throws: A `DecodingError` with the coding path of the mismatch, and the document path in its description: `valueNotFound`
    ///   if the document doesn't exist, unless `type` is an optional.
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
    /// Returns whether two snapshots have the same reference and data.
    public static func == (left: DocumentSnapshot, right: DocumentSnapshot) -> Bool {
        left.reference == right.reference && left.document == right.document
    }

    /// Hashes the components compared by `==`.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(document)
    }
}

/// A document in a query result. It always exists.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
    private let fields: MapValue

    init(_ document: Document, in firestore: Firestore) {
        fields = document.fields
        super.init(document, of: DocumentReference(document.path, in: firestore))
    }

    /// Returns the fields, as ``DocumentSnapshot/data()`` does.
    public override func data() -> [String: Any] {
        fields.dictionary(in: reference.firestore)
    }

    /// Returns the fields, as ``DocumentSnapshot/data()`` does.
    public override func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any] {
        data()
    }
}
