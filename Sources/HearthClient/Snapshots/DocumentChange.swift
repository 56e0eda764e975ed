internal import Foundation

/// A change to a document in a query result since the previous snapshot.
public struct DocumentChange: Hashable, Sendable {
    /// The type of the change.
    public let type: DocumentChangeType
    /// The document after the change; the last version of a removed document.
    public let document: QueryDocumentSnapshot
    /// The index of the document before this change, after all preceding changes; `NSNotFound` for an added document.
    public let oldIndex: UInt
    /// The index of the document after this change and all preceding ones; `NSNotFound` for a removed document.
    public let newIndex: UInt
}

/// The type of a document change.
public enum DocumentChangeType: Int, Hashable, Sendable {
    /// The document was added to the result.
    case added
    /// The document was modified.
    case modified
    /// The document was removed from the result.
    case removed
}

extension [DocumentChange] {
    /// Returns the changes for the initial result.
    static func added(_ documents: [QueryDocumentSnapshot]) -> [DocumentChange] {
        documents.enumerated().map { index, document in
            DocumentChange(type: .added, document: document, oldIndex: UInt(NSNotFound), newIndex: UInt(index))
        }
    }
}
