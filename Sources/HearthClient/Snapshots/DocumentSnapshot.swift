internal import DocumentModel
internal import SyncEngine

// Sendable: all properties, including those of the only subclass, are immutable.
/// The state of a document when it was read.
public class DocumentSnapshot: @unchecked Sendable {
    /// The reference to the document.
    public let reference: DocumentReference
    /// The metadata of the snapshot.
    public let metadata: SnapshotMetadata
    /// The document, with null for pending server timestamps; `nil` if it doesn't exist.
    let document: Document?
    /// The server timestamps that the server has not set yet.
    let pendingTimestamps: [FieldPath: PendingTimestamp]

    init(_ document: Document?, of reference: DocumentReference) {
        self.reference = reference
        self.document = document
        metadata = SnapshotMetadata()
        pendingTimestamps = [:]
    }

    /// Creates a snapshot of a document in the cache; `nil` for one that doesn't exist.
    init(_ document: LocalDocument?, of reference: DocumentReference, _ metadata: SnapshotMetadata) {
        self.reference = reference
        self.document = document?.document
        self.metadata = metadata
        pendingTimestamps = document?.pendingTimestamps ?? [:]
    }

    /// The document ID.
    public var documentID: String { reference.documentID }

    /// True if the document exists.
    public var exists: Bool { document != nil }

    /// Returns the fields; `nil` if the document doesn't exist.
    ///
    /// Numbers are returned as `NSNumber`, which can be cast to `Int` or `Double`, null as `NSNull` and bytes as `Data`.
    public func data() -> [String: Any]? {
        data(with: .none)
    }

    /// Returns the fields; `nil` if the document doesn't exist.
    public func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any]? {
        fields(serverTimestampBehavior)?.dictionary(in: reference.firestore)
    }

    /// Returns the value of a field, given by a dotted `String` or a ``FieldPath``; `nil` if the field doesn't exist.
    public func get(_ field: Any) -> Any? {
        get(field, serverTimestampBehavior: .none)
    }

    /// Returns the value of a field, given by a dotted `String` or a ``FieldPath``; `nil` if the field doesn't exist.
    public func get(_ field: Any, serverTimestampBehavior: ServerTimestampBehavior) -> Any? {
        do throws(StatusError) {
            return fields(serverTimestampBehavior)?[try FieldPath(any: field)]?.any(in: reference.firestore)
        } catch {
            preconditionFailure(error.message)
        }
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
        let value = fields(serverTimestampBehavior).map { Value.map($0) } ?? .null
        return try decoder.decode(type, from: value, of: reference, in: reference.firestore)
    }

    /// Returns the fields with values for the pending server timestamps; `nil` if the document doesn't exist.
    private func fields(_ behavior: ServerTimestampBehavior) -> MapValue? {
        guard behavior != .none, !pendingTimestamps.isEmpty else { return document?.fields }
        return document.map { pendingTimestamps.resolved(behavior.resolution, in: $0.fields) }
    }
}

extension DocumentSnapshot: Hashable {
    /// Returns whether two snapshots have the same reference, data and metadata.
    public static func == (left: DocumentSnapshot, right: DocumentSnapshot) -> Bool {
        left.reference == right.reference && left.document == right.document && left.metadata == right.metadata
            && left.pendingTimestamps == right.pendingTimestamps
    }

    /// Hashes the document.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(document)
    }
}

/// A document in a query result. It always exists.
public final class QueryDocumentSnapshot: DocumentSnapshot, @unchecked Sendable {
    init(_ document: Document, in firestore: Firestore) {
        super.init(document, of: DocumentReference(document.path, in: firestore))
    }

    init(_ document: LocalDocument, in firestore: Firestore, _ metadata: SnapshotMetadata) {
        super.init(document, of: DocumentReference(document.path, in: firestore), metadata)
    }

    /// Returns the fields, as ``DocumentSnapshot/data()`` does.
    public override func data() -> [String: Any] {
        data(with: .none)
    }

    /// Returns the fields, as ``DocumentSnapshot/data()`` does.
    public override func data(with serverTimestampBehavior: ServerTimestampBehavior) -> [String: Any] {
        // It is not nil, since the document exists.
        super.data(with: serverTimestampBehavior) ?? [:]
    }
}

extension LocalDocument {
    /// The document. One that the server has not told of yet has the earliest times.
    fileprivate var document: Document {
        let updateTime = version ?? .minimum
        return Document(path: path, fields: fields, createTime: createTime ?? updateTime, updateTime: updateTime)
    }
}
