/// The result of a query as of one point in time.
public final class QuerySnapshot: Sendable {
    /// The query.
    public let query: Query
    /// The metadata of the snapshot.
    public let metadata = SnapshotMetadata()
    /// The documents, in query order.
    public let documents: [QueryDocumentSnapshot]
    /// The changes since the previous snapshot: removed, added, then modified documents. In the first snapshot, all documents are
    /// added.
    public let documentChanges: [DocumentChange]
    /// Errors for documents that cannot be read and are excluded from ``documents``.
    public let damaged: [FirestoreError]

    init(_ query: Query, _ documents: [QueryDocumentSnapshot], changes: [DocumentChange], damaged: [FirestoreError]) {
        self.query = query
        self.documents = documents
        documentChanges = changes
        self.damaged = damaged
    }

    /// True if the result is empty.
    public var isEmpty: Bool { documents.isEmpty }

    /// The number of documents.
    public var count: Int { documents.count }

    /// Returns the changes since the previous snapshot. Metadata never changes.
    public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
        documentChanges
    }
}

extension QuerySnapshot: Equatable {
    /// Returns whether two snapshots have the same query and documents.
    public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
        left.query == right.query && left.documents == right.documents
    }
}
