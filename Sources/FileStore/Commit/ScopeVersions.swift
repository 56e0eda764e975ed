internal import DocumentModel
internal import DocumentStore

/// The last commit that changed each collection and collection group, for the validation of reads.
///
/// The table is bounded: it consists of two generations, the older of which is dropped when the newer is full. Scopes are
/// identified by hashes. A collision makes a collection look changed, which at worst repeats a transaction.
struct ScopeVersions {
    private var newer: [Int: SequenceNumber] = [:]
    private var older: [Int: SequenceNumber] = [:]
    /// The last commit that may have changed a scope that is in neither generation.
    private var dropped: SequenceNumber
    /// The last commit.
    private var latest: SequenceNumber
    private let maximumCount: Int

    /// Creates a table without information on the commits up to `sequence`.
    ///
    /// - Parameter maximumCount: The number of scopes in a generation.
    init(after sequence: SequenceNumber, maximumCount: Int = 1 << 16) {
        dropped = sequence
        latest = sequence
        self.maximumCount = maximumCount
    }

    /// Records the changes of the next commit.
    mutating func record(_ commit: Commit) {
        guard !commit.changes.isEmpty else { return }
        latest = commit.sequence
        for change in commit.changes {
            for scope in change.path.scopes { newer[scope.hashValue] = commit.sequence }
        }
        guard newer.count >= maximumCount else { return }
        dropped = older.values.reduce(dropped, max)
        older = newer
        newer = [:]
    }

    /// Returns the last commit that changed a document in a scope, or a later one when that is not known.
    func lastChange(in scope: ReadScope) -> SequenceNumber {
        if scope == .database { return latest }
        let hash = scope.hashValue
        return newer[hash] ?? older[hash] ?? dropped
    }
}
