internal import DocumentModel

/// Which commit last changed a document of a collection, for the collections that were changed lately.
///
/// What is kept is bounded: of two generations, the older goes when the younger is full. It is kept by hashes; two
/// collections with the same one look as if they changed together, which makes a transaction repeat at worst.
struct CollectionChanges {
    private var young: [Int: SequenceNumber] = [:]
    private var old: [Int: SequenceNumber] = [:]
    /// The last commit that may have changed a collection of which nothing is known.
    private var forgotten: SequenceNumber
    private let maximumCount: Int

    /// Knows nothing of the commits up to `sequence`.
    ///
    /// - Parameter maximumCount: How many collections a generation has.
    init(after sequence: SequenceNumber, maximumCount: Int = 1 << 16) {
        forgotten = sequence
        self.maximumCount = maximumCount
    }

    /// Notes what a commit changed; in order.
    mutating func note(_ commit: Commit) {
        for change in commit.changes { young[change.path.collection.hashValue] = commit.sequence }
        guard young.count >= maximumCount else { return }
        forgotten = old.values.reduce(forgotten, max)
        old = young
        young = [:]
    }

    /// The last commit that changed a document of the collection, or a later one where that is forgotten.
    func last(in collection: CollectionPath) -> SequenceNumber {
        let hash = collection.hashValue
        return young[hash] ?? old[hash] ?? forgotten
    }
}
