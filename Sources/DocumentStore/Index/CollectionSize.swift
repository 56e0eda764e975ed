/// How much is in a collection, without what is below its documents.
package struct CollectionSize: Hashable, Sendable {
    /// How many documents there are.
    package var documentCount: Int
    /// Their sizes together, each by Firestore's formula: ``Document/size(of:at:)``.
    package var byteCount: Int

    /// Nothing.
    package static let zero = CollectionSize(documentCount: 0, byteCount: 0)

    /// Makes a size.
    package init(documentCount: Int, byteCount: Int) {
        self.documentCount = documentCount
        self.byteCount = byteCount
    }

    static func += (size: inout CollectionSize, other: CollectionSize) {
        size.documentCount += other.documentCount
        size.byteCount += other.byteCount
    }
}
