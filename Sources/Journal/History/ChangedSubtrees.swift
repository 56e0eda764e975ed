internal import DocumentModel
internal import DocumentStore
internal import Synchronization
internal import UTF8Text

/// The documents that were changed since a time, found by the collections and documents above them.
///
/// A read of many collections as of one time, such as an export, asks about each of them. The commits after the time are read once;
/// later ones are added as they are made.
final class ChangedSubtrees: Sendable {
    let time: Timestamp
    private let state: Mutex<State>

    private struct State {
        var tree = ChangeTree()
        /// The time of the last commit in the tree.
        var lastTime: Timestamp
        /// True once more documents have changed than are kept in memory.
        var isOverLimit = false
    }

    /// The maximum number of documents, of about 200 bytes each.
    static let maximumCount = 50_000

    init(since time: Timestamp) {
        self.time = time
        state = Mutex(State(lastTime: time))
    }

    /// Returns the changes to documents below a collection or document; `nil` if too many documents have changed.
    ///
    /// The changes of commits after the view may be among them, which make no difference to the state at the time.
    func changes(below segments: [UTF8Key], in view: PointInTimeView) throws(StatusError) -> SubtreeChanges? {
        try withTree(of: view) { $0.changes(below: segments) }
    }

    /// Returns the first changes to documents directly in a collection; `nil` if too many documents have changed.
    func firstChanges(
        in collection: CollectionPath,
        in view: PointInTimeView
    ) throws(StatusError) -> [DocumentPath.ID: ChangeTree.FirstChange]? {
        try withTree(of: view) { $0.firstChanges(in: collection) }
    }

    private func withTree<Result>(
        of view: PointInTimeView,
        _ body: (ChangeTree) -> Result
    ) throws(StatusError) -> Result? {
        try state.withLock { state throws(StatusError) in
            guard !state.isOverLimit else { return nil }
            try view.forEachCommit(after: state.lastTime) { commit, segment, record throws(StatusError) in
                for change in commit.changes { state.tree.insert(change, segment, record) }
                state.lastTime = commit.time
                return state.tree.count <= Self.maximumCount
            }
            guard state.tree.count <= Self.maximumCount else {
                state.isOverLimit = true
                state.tree = ChangeTree()
                return nil
            }
            return body(state.tree)
        }
    }
}

/// The changes since the times of the last reads that asked for them.
final class ChangedSubtreesCache: Sendable {
    /// The latest last.
    private let subtrees = Mutex<[ChangedSubtrees]>([])

    private static let maximumCount = 4

    func subtrees(since time: Timestamp) -> ChangedSubtrees {
        subtrees.withLock { subtrees in
            let known = subtrees.firstIndex { $0.time == time }.map { subtrees.remove(at: $0) }
            let found = known ?? ChangedSubtrees(since: time)
            subtrees = subtrees.suffix(Self.maximumCount - 1) + [found]
            return found
        }
    }
}

/// A tree of paths with the first change to each document in it.
struct ChangeTree {
    /// The first change to a document.
    struct FirstChange {
        let path: DocumentPath
        let segment: SegmentIndex.ID
        /// The position in the segment's index.
        let record: Int
        /// True if the document existed before.
        let existed: Bool
    }

    private struct Node {
        var children: [UTF8Key: Int] = [:]
        var change: FirstChange?
    }

    /// The nodes, the root first.
    private var nodes = [Node()]
    /// The number of documents.
    private(set) var count = 0

    /// Adds a change, unless an earlier one to the same document is known.
    mutating func insert(_ change: CommittedChange, _ segment: SegmentIndex.ID, _ record: Int) {
        var position = 0
        for key in change.path.segments {
            if let child = nodes[position].children[key] {
                position = child
            } else {
                nodes[position].children[key] = nodes.count
                position = nodes.count
                nodes.append(Node())
            }
        }
        guard nodes[position].change == nil else { return }
        nodes[position].change = FirstChange(
            path: change.path,
            segment: segment,
            record: record,
            existed: change.existedBefore
        )
        count += 1
    }

    /// Returns the changes to documents below a collection or document, given by its path segments.
    func changes(below segments: [UTF8Key]) -> SubtreeChanges {
        var changes = SubtreeChanges()
        guard let start = position(of: segments) else { return changes }
        var pending = Array(nodes[start].children.values)
        while let position = pending.popLast() {
            let node = nodes[position]
            if let change = node.change { changes.insert(change.path, existed: change.existed) }
            pending += node.children.values
        }
        return changes
    }

    /// Returns the first changes to documents directly in a collection.
    func firstChanges(in collection: CollectionPath) -> [DocumentPath.ID: FirstChange] {
        var changes: [DocumentPath.ID: FirstChange] = [:]
        guard let position = position(of: collection.segments) else { return changes }
        for child in nodes[position].children.values {
            if let change = nodes[child].change { changes[change.path.id] = change }
        }
        return changes
    }

    private func position(of segments: [UTF8Key]) -> Int? {
        var position = 0
        for key in segments {
            guard let child = nodes[position].children[key] else { return nil }
            position = child
        }
        return position
    }
}
