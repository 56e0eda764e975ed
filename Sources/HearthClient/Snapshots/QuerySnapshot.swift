/// The result of a query as it was at one time.
public final class QuerySnapshot: Sendable {
    /// What was asked.
    public let query: Query
    /// What is known of the snapshot beside its data.
    public let metadata = SnapshotMetadata()
    /// The documents, in the query's order.
    public let documents: [QueryDocumentSnapshot]
    /// What has changed since the snapshot before; in the first one all documents are added. Those that were removed come
    /// first, then those that were added, then those that were modified.
    public let documentChanges: [DocumentChange]
    /// The documents that are there but can't be read, each with what is wrong and where. They are left out of ``documents``.
    public let damaged: [FirestoreError]

    init(_ query: Query, _ documents: [QueryDocumentSnapshot], changes: [DocumentChange], damaged: [FirestoreError]) {
        self.query = query
        self.documents = documents
        documentChanges = changes
        self.damaged = damaged
    }

    /// Whether there is no document.
    public var isEmpty: Bool { documents.isEmpty }

    /// How many documents there are.
    public var count: Int { documents.count }

    /// What has changed since the snapshot before. Metadata never change.
    public func documentChanges(includeMetadataChanges: Bool) -> [DocumentChange] {
        documentChanges
    }
}

extension QuerySnapshot: Equatable {
    /// Whether both are of the same query, and have the same documents.
    public static func == (left: QuerySnapshot, right: QuerySnapshot) -> Bool {
        left.query == right.query && left.documents == right.documents
    }
}
