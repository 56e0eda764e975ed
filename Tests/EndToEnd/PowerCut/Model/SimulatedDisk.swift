/// A model of a disk with its write cache: the durable state, and the pending operations, which may be lost or torn.
struct SimulatedDisk: Hashable, Sendable {
    /// The durable state.
    private(set) var durable = FileTree()
    /// The operations that have not been synced, in order.
    private(set) var pending: [Pending] = []

    /// An operation that has not been synced.
    struct Pending: Hashable, Sendable {
        let operation: FileOperation
        /// A description.
        let label: String
        /// The trace line in which the system call returned.
        let end: Int
    }

    /// The scope of a sync.
    enum Scope: Hashable, Sendable {
        case inode(Inode)
        case everything
    }

    /// Adds an operation to the cache.
    mutating func perform(_ operation: FileOperation, label: String = "", end: Int) {
        pending.append(Pending(operation: operation, label: label, end: end))
    }

    /// Makes all operations durable that completed before the sync began. Concurrent operations remain pending.
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

    /// Returns the state after a power cut, in which each pending operation is replaced by the result of `remains`.
    func afterPowerCut(_ remains: (_ index: Int, _ pending: Pending) -> [FileOperation]) -> FileTree {
        var tree = durable
        for (index, pending) in pending.enumerated() {
            for operation in remains(index, pending) { tree.apply(operation) }
        }
        return tree
    }
}
