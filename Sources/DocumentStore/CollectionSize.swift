/// The number and the total size of a collection's documents, without subcollections.
package struct CollectionSize: Hashable, Sendable {
    /// The number of documents.
    package var documentCount: Int
    /// The total size of the documents by Firestore's formula; see ``Document/size(of:at:)``.
    package var byteCount: Int

    /// The size of an empty collection.
    package static let zero = CollectionSize(documentCount: 0, byteCount: 0)

    /// Creates a size.
    package init(documentCount: Int, byteCount: Int) {
        self.documentCount = documentCount
        self.byteCount = byteCount
    }

    package static func += (size: inout CollectionSize, other: CollectionSize) {
        size.documentCount += other.documentCount
        size.byteCount += other.byteCount
    }
}
