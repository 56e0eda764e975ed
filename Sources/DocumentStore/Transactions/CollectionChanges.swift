internal import DocumentModel

/// Which commit last changed a document of a collection or a collection group, for those that were changed lately.
///
/// What is kept is bounded: of two generations, the older goes when the younger is full. It is kept by hashes; two
/// collections with the same one look as if they changed together, which makes a transaction repeat at worst.
struct CollectionChanges {
    private var young: [Int: SequenceNumber] = [:]
    private var old: [Int: SequenceNumber] = [:]
    /// The last commit that may have changed a collection of which nothing is known.
    private var forgotten: SequenceNumber
    /// The last commit.
    private var latest: SequenceNumber
    private let maximumCount: Int

    /// Knows nothing of the commits up to `sequence`.
    ///
    /// - Parameter maximumCount: How many collections a generation has.
    init(after sequence: SequenceNumber, maximumCount: Int = 1 << 16) {
        forgotten = sequence
        latest = sequence
        self.maximumCount = maximumCount
    }

    /// Notes what a commit changed; in order.
    mutating func note(_ commit: Commit) {
        latest = commit.sequence
        for change in commit.changes {
            for scope in change.path.scopes { young[scope.hashValue] = commit.sequence }
        }
        guard young.count >= maximumCount else { return }
        forgotten = old.values.reduce(forgotten, max)
        old = young
        young = [:]
    }

    /// The last commit that changed a document in a scope, or a later one where that is forgotten.
    func last(in scope: ReadScope) -> SequenceNumber {
        if scope == .everything { return latest }
        let hash = scope.hashValue
        return young[hash] ?? old[hash] ?? forgotten
    }
}

extension DocumentPath {
    /// The scopes that a document is in, without the one that everything is in.
    var scopes: [ReadScope] { [.collection(collection), .group(collection.id)] }
}
