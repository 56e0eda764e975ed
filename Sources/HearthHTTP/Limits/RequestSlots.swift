import Synchronization

/// The limit on HTTP/2 requests in progress, over all connections. A connection of HTTP/1 has one request in progress at a time.
final class RequestSlots: Sendable {
    private let limit: Int
    private let count = Atomic(0)
    private let refused = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Acquires a slot. Returns false at the limit.
    func acquire() -> Bool {
        guard count.add(1, ordering: .relaxed).newValue > limit else { return true }
        release()
        refused.add(1, ordering: .relaxed)
        return false
    }

    /// The number of requests that were rejected.
    var refusedCount: Int { refused.load(ordering: .relaxed) }

    func release() {
        count.subtract(1, ordering: .relaxed)
    }
}
