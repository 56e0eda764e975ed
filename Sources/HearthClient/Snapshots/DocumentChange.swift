/// What has happened to a document of a query's result since the snapshot before.
public struct DocumentChange: Hashable, Sendable {
    /// What has happened.
    public let type: DocumentChangeType
    /// The document as it is now; one that was removed as it was last.
    public let document: QueryDocumentSnapshot
    /// Where the document was in the result, after all changes that come before this one; `NSNotFound` when it was not.
    public let oldIndex: UInt
    /// Where the document is in the result, after all changes that come before this one; `NSNotFound` when it is no more.
    public let newIndex: UInt
}

/// What can happen to a document of a query's result.
public enum DocumentChangeType: Int, Hashable, Sendable {
    /// It is in the result now.
    case added
    /// Its data have changed.
    case modified
    /// It is in the result no more.
    case removed
}
