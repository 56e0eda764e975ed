internal import DocumentModel
internal import StrictJSON

/// How the documents below a place differ from what they were at a time: not in contents, but in which there are.
struct TreeDifference: Sendable {
    /// The documents that existed at the time and were changed or deleted since.
    private(set) var existed: Set<DocumentPath> = []
    /// The documents that did not exist at the time and were created since; they may have been deleted again.
    private(set) var created: Set<DocumentPath> = []

    /// The IDs in a place, so many segments from the top, below which there were such documents.
    func existedBelowIDs(at depth: Int) -> Set<UTF8Key> {
        Set(existed.lazy.map(\.segments).filter { $0.count > depth + 1 }.map { $0[depth] })
    }

    fileprivate mutating func note(_ change: DocumentChange) {
        guard !existed.contains(change.path), !created.contains(change.path) else { return }
        if change.existedBefore { existed.insert(change.path) } else { created.insert(change.path) }
    }

    fileprivate var count: Int { existed.count + created.count }
}

extension HistoryView {
    /// How many documents a difference may have.
    private static let maximumDifference = 100_000

    /// How the documents below differ, in or below a collection or below a document, or all of them without segments.
    ///
    /// - Throws: `.resourceExhausted` when it is in too many of them.
    func difference(below segments: [UTF8Key]) throws(StatusError) -> TreeDifference {
        let prefix = segments.flatMap { Array($0.utf8) + [UInt8(ascii: "/")] }
        var difference = TreeDifference()
        try forEachCommit { _, range in
            Array(range)
        } _: { commit, _, _ throws(StatusError) in
            for change in commit.changes where change.path.string.utf8.starts(with: prefix) { difference.note(change) }
            guard difference.count <= Self.maximumDifference else {
                throw StatusError(
                    .resourceExhausted,
                    "More than \(Self.maximumDifference) documents were created or changed since the read time, too many to tell what "
                        + "was there. Give a later time.",
                    path: segments.isEmpty ? nil : segments.map(\.string).joined(separator: "/")
                )
            }
        }
        return difference
    }
}
