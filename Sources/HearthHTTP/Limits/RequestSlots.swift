import Synchronization

/// The limit on HTTP/2 requests in progress, over all connections. A connection of HTTP/1 has one request in progress at a time.
final class RequestSlots: Sendable {
    private let limit: Int
    private let count = Atomic(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// Acquires a slot. Returns false at the limit.
    func acquire() -> Bool {
        guard count.add(1, ordering: .relaxed).newValue > limit else { return true }
        release()
        return false
    }

    func release() {
        count.subtract(1, ordering: .relaxed)
    }
}
