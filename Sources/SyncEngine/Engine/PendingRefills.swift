/// The views that need a refill, in the order in which they have begun to wait.
struct PendingRefills {
    private var refills: [ViewID: Refill] = [:]
    private var order: [ViewID] = []
    /// The views that have been refilled since none needed it.
    private var completed: Set<ViewID> = []

    enum RefillState {
        case waiting
        case scanning(ScanID)
    }

    private struct Refill {
        var state = RefillState.waiting
        var isInterrupted = false
    }

    var isEmpty: Bool { order.isEmpty }

    /// The view that has waited longest.
    var first: ViewID? { order.first }

    /// True if all views that need a refill have had one since none needed it. Under constant change there might always be such views.
    var areRepeated: Bool { !isEmpty && completed.isSuperset(of: order) }

    /// The state of the refill of a view; `nil` if it needs none.
    subscript(id: ViewID) -> RefillState? { refills[id]?.state }

    /// True if the target of the view was interrupted while it needed a refill.
    func isInterrupted(_ id: ViewID) -> Bool { refills[id]?.isInterrupted == true }

    /// Adds a view, unless it waits already.
    mutating func add(_ id: ViewID) {
        guard refills[id] == nil else { return }
        refills[id] = Refill()
        order.append(id)
    }

    /// Records a step of the scan for a view.
    mutating func record(_ scan: ScanID, of id: ViewID) {
        refills[id]?.state = .scanning(scan)
    }

    /// Records that the target of a view was interrupted.
    mutating func interrupt(_ id: ViewID) {
        refills[id]?.isInterrupted = true
    }

    /// Removes a view that has been refilled.
    mutating func complete(_ id: ViewID) {
        completed.insert(id)
        remove(id)
    }

    /// Removes a view, and returns the state of its refill.
    @discardableResult
    mutating func remove(_ id: ViewID) -> RefillState? {
        order.removeAll { $0 == id }
        if isEmpty { completed = [] }
        return refills.removeValue(forKey: id)?.state
    }
}
