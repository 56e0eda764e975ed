internal import DocumentModel

/// Which page of a collection's documents is asked for.
struct DocumentListing: Sendable {
    /// The collection.
    let collection: CollectionPath
    /// Where the page begins: behind this ID, or at the beginning when nil.
    var after: DocumentID?
    /// How many entries it holds at most.
    let limit: Int
    /// Whether documents that don't exist but have documents below them are listed too.
    let includingMissing: Bool

    /// Whether an ID comes behind the page's beginning.
    func isBehindStart(_ id: DocumentID) -> Bool {
        after.map { $0 < id } ?? true
    }
}
