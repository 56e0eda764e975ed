/// The result of a query as of one point in time.
public final class QuerySnapshot: Sendable {
    /// The query.
    public let query: Query
    /// The metadata of the snapshot.
    public let metadata: SnapshotMetadata
    /// The documents, in query order.
    public let documents: [QueryDocumentSnapshot]
    /// The changes since the previous snapshot: removed, added, then modified documents. In the first snapshot, all documents are
    /// added.
    public let documentChanges: [DocumentChange]
    /// Errors for documents that cannot be read and are excluded from ``documents``.
    public let damaged: [FirestoreError]
    private let allChanges: [DocumentChange]

    /// - Parameter allChanges: The changes with those of metadata alone; `nil` if there are no others.
    init(
        _ query: Query,
        _ documents: [QueryDocumentSnapshot],
        changes: [DocumentChange],
        allChanges: [DocumentChange]? = nil,
        metadata: SnapshotMetadata = SnapshotMetadata(),
        damaged: [FirestoreError]
    ) {
        self.query = query
        self.documents = documents
        self.metadata = metadata
        documentChanges = changes
        self.allChanges = allChanges ?? changes
        self.damaged = damaged
    }

    /// True if the result is empty.
    public var isEmpty: Bool { documents.isEmpty }

    /// The number of documents.
    public var count: Int { documents.count }

    /// Returns the changes since the previous snapshot.
    ///
    /// - Parameter includeMetadataChanges: True to include documents whose metadata alone has changed, as modified ones. The listener must
    ///   have asked for these changes, too.
    public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
        includeMetadataChanges ? allChanges : documentChanges
    }
}

extension QuerySnapshot: Equatable {
    /// Returns whether two snapshots have the same query, documents and metadata.
    public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
        left.query == right.query && left.documents == right.documents && left.metadata == right.metadata
    }
}
