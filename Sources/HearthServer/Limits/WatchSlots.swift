import StrictJSON
import Synchronization

/// Counts the open watch streams, and admits no more than there is room for: in all, and for one client address.
final class WatchSlots: Sendable {
    private struct State {
        var count = 0
        /// The streams of each address that has any.
        var countByAddress: [UTF8Key: Int] = [:]
    }

    let limit: Int
    let limitPerAddress: Int
    private let state = Mutex(State())

    init(limit: Int, limitPerAddress: Int) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
    }

    /// The room of one stream. It is free again when nobody holds it.
    final class Slot: Sendable {
        private let slots: WatchSlots
        private let address: UTF8Key

        fileprivate init(_ slots: WatchSlots, address: UTF8Key) {
            self.slots = slots
            self.address = address
        }

        deinit {
            slots.giveBack(address)
        }
    }

    /// Why there is no slot.
    enum Refusal: Error {
        /// All are taken.
        case full
        /// The address has as many as it may.
        case addressIsFull
    }

    /// Takes a slot for a client at an address.
    func take(for address: UTF8Key) throws(Refusal) -> Slot {
        try state.withLock { state throws(Refusal) in
            guard state.count < limit else { throw .full }
            let count = state.countByAddress[address, default: 0]
            guard count < limitPerAddress else { throw .addressIsFull }
            state.count += 1
            state.countByAddress[address] = count + 1
        }
        return Slot(self, address: address)
    }

    private func giveBack(_ address: UTF8Key) {
        state.withLock { state in
            state.count -= 1
            let rest = state.countByAddress[address, default: 0] - 1
            state.countByAddress[address] = rest > 0 ? rest : nil
        }
    }
}
