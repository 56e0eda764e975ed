import DocumentModel
import DocumentStore

extension Commit {
    /// Coalesces commits into one: the net change of each document, in the order of the last changes, with the sequence number
    /// and time of the last commit. Returns `nil` for no commits.
    init?(coalescing commits: [Commit]) {
        guard let last = commits.last else { return nil }
        var coalesced: [DocumentPath: (change: CommittedChange, index: Int)] = [:]
        for (index, change) in commits.flatMap(\.changes).enumerated() {
            guard let first = coalesced[change.path]?.change else {
                coalesced[change.path] = (change, index)
                continue
            }
            let both = CommittedChange(
                path: change.path,
                before: first.before,
                after: change.after,
                existedBefore: first.existedBefore
            )
            coalesced[change.path] = (both, index)
        }
        // A document that was created and deleted has no net change.
        let changes = coalesced.values.filter { $0.change.existedBefore || $0.change.after != nil }
        self.init(
            sequence: last.sequence,
            time: last.time,
            author: commits.allSatisfy { $0.author == last.author } ? last.author : nil,
            changes: changes.sorted { $0.index < $1.index }.map(\.change)
        )
    }

    /// The approximate size of the changes.
    var contentByteCount: Int {
        changes.reduce(0) { $0 + $1.contentByteCount }
    }

    /// Returns whether the approximate size of the changes exceeds a limit, after a look at as many changes as that takes.
    func isLarger(than byteCount: Int) -> Bool {
        var rest = byteCount
        return changes.contains { change in
            rest -= change.contentByteCount
            return rest < 0
        }
    }
}

extension CommittedChange {
    /// The approximate size.
    fileprivate var contentByteCount: Int {
        256 + (before?.fieldsJSON.count ?? 0) + (after?.fieldsJSON.count ?? 0)
    }
}
