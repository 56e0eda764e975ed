internal import DocumentModel
internal import DocumentStore

/// The number and size of a database's documents, by which commits are compared with its quota.
///
/// They are taken from the index, which has them at no cost and follows the commits after a moment, and then counted by commit. Until
/// the index has been opened or rebuilt, they are unknown, and nothing is refused.
struct QuotaUsage {
    /// The last commit before those that are counted; `nil` without a quota.
    private var start: SequenceNumber?
    /// The documents as of the last commit; `nil` while they are unknown.
    private var used: CollectionSize?
    /// The changes of the commits since ``start``, while the documents are unknown.
    private var changes: [(last: SequenceNumber, size: CollectionSize)] = []

    /// True if a quota has been set since the last call, so that the documents may be unknown only because the index is being opened.
    mutating func begins(after last: SequenceNumber) -> Bool {
        guard start == nil else { return false }
        start = last
        return true
    }

    /// Returns the additions that the next commits may make. ``begins(after:)`` was called before.
    ///
    /// - Parameter indexed: The documents that the index includes, as of a commit; `nil` while it cannot be used.
    mutating func allowance(
        of quota: DatabaseQuota,
        after last: SequenceNumber,
        _ indexed: (sequence: SequenceNumber, size: CollectionSize)?
    ) -> DatabaseQuota.Allowance {
        if let indexed, let start {
            if used == nil, indexed.sequence >= start {
                used = changes.reduce(into: indexed.size) { size, change in
                    if change.last > indexed.sequence { size += change.size }
                }
                changes = []
            } else if indexed.sequence == last {
                // The index also knows of files that were damaged or repaired meanwhile.
                used = indexed.size
            }
        }
        return DatabaseQuota.Allowance(quota, used: used)
    }

    /// Counts the commits of a batch.
    mutating func record(_ allowance: DatabaseQuota.Allowance?, through last: SequenceNumber) {
        guard let allowance, allowance.change != .zero else { return }
        if used == nil { changes.append((last, allowance.change)) }
        used? += allowance.change
    }
}
