/// A disk during a run: what would surely be on it after a power cut, and what may be, in part or not at all.
struct Disk: Hashable, Sendable {
    /// What surely stays.
    private(set) var durable = FileTree()
    /// What was not synced, in order.
    private(set) var pending: [Pending] = []

    /// An operation that was not synced yet.
    struct Pending: Hashable, Sendable {
        let operation: FileOperation
        /// In words.
        let label: String
        /// When the system call returned, on the trace's clock.
        let end: Int
    }

    /// What a sync is for.
    enum Scope: Hashable, Sendable {
        case inode(Inode)
        case everything
    }

    /// Takes an operation into the cache.
    mutating func perform(_ operation: FileOperation, label: String = "", end: Int) {
        pending.append(Pending(operation: operation, label: label, end: end))
    }

    /// Brings to disk what was done before the sync began. What was under way at that time may be missed.
    mutating func synchronize(_ scope: Scope, begin: Int) {
        var rest: [Pending] = []
        for pending in pending {
            let isCovered =
                switch scope {
                case .inode(let inode): pending.operation.subject == inode
                case .everything: true
                }
            if isCovered && pending.end < begin {
                durable.apply(pending.operation)
            } else {
                rest.append(pending)
            }
        }
        pending = rest
    }

    /// What a power cut leaves when this becomes of what was not synced: of each operation what `remains` returns.
    func afterPowerCut(_ remains: (_ index: Int, _ pending: Pending) -> [FileOperation]) -> FileTree {
        var tree = durable
        for (index, pending) in pending.enumerated() {
            for operation in remains(index, pending) { tree.apply(operation) }
        }
        return tree
    }
}
