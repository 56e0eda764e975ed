import DocumentModel
import DocumentStore

extension Commit {
    /// Several commits as one: what they have made of each document together, in the order of the last changes, as of the last
    /// of them. Nil for none.
    init?(joining commits: [Commit]) {
        guard let last = commits.last else { return nil }
        var joined: [DocumentPath: (change: DocumentChange, place: Int)] = [:]
        for (place, change) in commits.flatMap(\.changes).enumerated() {
            guard let first = joined[change.path]?.change else {
                joined[change.path] = (change, place)
                continue
            }
            let both = DocumentChange(
                path: change.path,
                before: first.before,
                after: change.after,
                existedBefore: first.existedBefore
            )
            joined[change.path] = (both, place)
        }
        // Made and deleted again is no change.
        let changes = joined.values.filter { $0.change.existedBefore || $0.change.after != nil }
        self.init(
            sequence: last.sequence,
            time: last.time,
            author: commits.allSatisfy { $0.author == last.author } ? last.author : nil,
            changes: changes.sorted { $0.place < $1.place }.map(\.change)
        )
    }
}
