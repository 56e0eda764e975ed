import HearthAPI
import Synchronization
import UTF8Text

/// The limits on open watch streams, in total, per client address and per key.
package final class WatchSlots: Sendable {
    private struct State {
        var limits: Limits
        var count = 0
        var refusedCount = 0
        /// The open streams of each address.
        var countByAddress: [UTF8Key: Int] = [:]
        /// The open streams of each key.
        var countByKey: [UTF8Key: Int] = [:]
    }

    /// The numbers of streams that are allowed.
    struct Limits {
        var total: Int
        var perAddress: Int
        var perKey: Int
    }

    /// The statistics in which open streams are counted.
    private let activity: ServerActivity
    private let state: Mutex<State>

    init(_ limits: Limits, activity: ServerActivity = ServerActivity()) {
        self.activity = activity
        state = Mutex(State(limits: limits))
    }

    /// The slot of one stream, released when it is deallocated.
    package final class Slot: Sendable {
        private let slots: WatchSlots
        private let address: UTF8Key?
        private let key: UTF8Key?

        fileprivate init(_ slots: WatchSlots, address: UTF8Key?, key: UTF8Key?) {
            self.slots = slots
            self.address = address
            self.key = key
        }

        deinit {
            slots.release(address, key: key)
        }
    }

    /// The limit that a stream would exceed.
    enum LimitReached: Error, Hashable {
        case total
        case address(UTF8Key)
        case key
    }

    /// The limits. Lower ones don't end open streams.
    var limits: Limits {
        get { state.withLock(\.limits) }
        set { state.withLock { $0.limits = newValue } }
    }

    /// The number of open streams.
    var count: Int { state.withLock(\.count) }

    /// The number of streams that were rejected.
    var refusedCount: Int { state.withLock(\.refusedCount) }

    /// Acquires a slot for a client.
    ///
    /// - Parameters:
    ///   - address: The client address; `nil` for an address without a limit.
    ///   - key: The ID of the client's key; `nil` without one.
    func acquire(for address: UTF8Key?, key: UTF8Key?) throws(LimitReached) -> Slot {
        try state.withLock { state throws(LimitReached) in
            if let reached = reachedLimit(address, key, in: state) {
                state.refusedCount += 1
                throw reached
            }
            if let key { state.countByKey[key, default: 0] += 1 }
            state.count += 1
            if let address { state.countByAddress[address, default: 0] += 1 }
        }
        activity.adjustWatcherCount(by: 1)
        return Slot(self, address: address, key: key)
    }

    /// Returns the limit that another stream would exceed.
    private func reachedLimit(_ address: UTF8Key?, _ key: UTF8Key?, in state: State) -> LimitReached? {
        if state.count >= state.limits.total { return .total }
        if let address, state.countByAddress[address, default: 0] >= state.limits.perAddress { return .address(address) }
        if let key, state.countByKey[key, default: 0] >= state.limits.perKey { return .key }
        return nil
    }

    private func release(_ address: UTF8Key?, key: UTF8Key?) {
        activity.adjustWatcherCount(by: -1)
        state.withLock { state in
            state.count -= 1
            if let address { state.countByAddress.decrement(address) }
            if let key { state.countByKey.decrement(key) }
        }
    }
}

extension [UTF8Key: Int] {
    /// Decrements a count and removes it at zero.
    mutating func decrement(_ key: UTF8Key) {
        let rest = self[key, default: 0] - 1
        self[key] = rest > 0 ? rest : nil
    }
}

extension WatchSlots.Limits {
    init(_ configuration: HTTPServerConfiguration) {
        self.init(
            total: configuration.maximumWatchers,
            perAddress: configuration.maximumWatchersPerAddress,
            perKey: configuration.maximumWatchersPerKey
        )
    }
}
