import Synchronization

/// Counts the open watch streams, and admits no more than there is room for.
final class WatchSlots: Sendable {
    private let limit: Int
    private let count = Mutex(0)

    init(limit: Int) {
        self.limit = limit
    }

    /// The room of one stream. It is free again when nobody holds it.
    final class Slot: Sendable {
        private let slots: WatchSlots

        fileprivate init(_ slots: WatchSlots) {
            self.slots = slots
        }

        deinit {
            slots.count.withLock { $0 -= 1 }
        }
    }

    /// A slot, or nil when all are taken.
    func take() -> Slot? {
        let isFree = count.withLock { count in
            guard count < limit else { return false }
            count += 1
            return true
        }
        return isFree ? Slot(self) : nil
    }
}
