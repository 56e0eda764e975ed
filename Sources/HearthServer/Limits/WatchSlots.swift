import HearthService
import StrictJSON
import Synchronization

/// Counts the open watch streams, and admits no more than there is room for: in all, for one client address, and for one key.
package final class WatchSlots: Sendable {
    private struct State {
        var count = 0
        /// The streams of each address that has any.
        var countByAddress: [UTF8Key: Int] = [:]
        /// The streams of each key that has any.
        var countByKey: [UTF8Key: Int] = [:]
    }

    let limit: Int
    let limitPerAddress: Int
    let limitPerKey: Int
    /// What is told of how many there are.
    private let activity: ServerActivity
    private let state = Mutex(State())

    init(limit: Int, limitPerAddress: Int, limitPerKey: Int, activity: ServerActivity = ServerActivity()) {
        self.activity = activity
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.limitPerKey = limitPerKey
    }

    /// The room of one stream. It is free again when nobody holds it.
    package final class Slot: Sendable {
        private let slots: WatchSlots
        private let address: UTF8Key
        private let key: UTF8Key?

        fileprivate init(_ slots: WatchSlots, address: UTF8Key, key: UTF8Key?) {
            self.slots = slots
            self.address = address
            self.key = key
        }

        deinit {
            slots.giveBack(address, key: key)
        }
    }

    /// Why there is no slot.
    enum Refusal: Error {
        /// All are taken.
        case full
        /// The address has as many as it may.
        case addressIsFull
        /// The key has as many as it may.
        case keyIsFull
    }

    /// Takes a slot for a client at an address.
    ///
    /// - Parameter key: The ID of its key; nil when it has none.
    func take(for address: UTF8Key, key: UTF8Key?) throws(Refusal) -> Slot {
        try state.withLock { state throws(Refusal) in
            guard state.count < limit else { throw .full }
            guard state.countByAddress[address, default: 0] < limitPerAddress else { throw .addressIsFull }
            if let key {
                guard state.countByKey[key, default: 0] < limitPerKey else { throw .keyIsFull }
                state.countByKey[key, default: 0] += 1
            }
            state.count += 1
            state.countByAddress[address, default: 0] += 1
        }
        activity.note(watchers: 1)
        return Slot(self, address: address, key: key)
    }

    private func giveBack(_ address: UTF8Key, key: UTF8Key?) {
        activity.note(watchers: -1)
        state.withLock { state in
            state.count -= 1
            state.countByAddress.decrement(address)
            if let key { state.countByKey.decrement(key) }
        }
    }
}

extension [UTF8Key: Int] {
    /// Counts one less, and forgets what there is none of.
    mutating func decrement(_ key: UTF8Key) {
        let rest = self[key, default: 0] - 1
        self[key] = rest > 0 ? rest : nil
    }
}
