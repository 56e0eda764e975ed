import Logging
import Synchronization
import UTF8Text

/// The limits on open connections, in total and per client address.
///
/// When a limit is reached, the connection that has been idle longest is closed to make room for a new one. A connection is idle
/// while it has neither a request that awaits its response nor a stream. A new connection is rejected only when none is idle.
final class ConnectionSlots: Sendable {
    typealias ID = UInt64

    fileprivate struct State {
        /// The connections that hold a slot.
        var connections: [ID: Connection] = [:]
        /// The idle connections of all addresses.
        var idle = IdleQueue()
        /// The connections of each limited address.
        var addresses: [UTF8Key: AddressConnections] = [:]
        var lastID: ID = 0
        /// The times of the last log entries.
        var lastWarnings: [WarningKind: ContinuousClock.Instant] = [:]
    }

    /// A connection that holds a slot.
    fileprivate struct Connection {
        /// The client address; `nil` for an address without a limit.
        let address: UTF8Key?
        let close: @Sendable () -> Void
    }

    /// The connections of an address.
    fileprivate struct AddressConnections {
        var count = 0
        var idle = IdleQueue()
    }

    /// A limit that a new connection would exceed.
    enum LimitReached: Error, Hashable {
        case total(Int)
        /// The limit of one client address.
        case address(UTF8Key, Int)
    }

    /// The kinds of log entries, which are repeated at most once per ``warningInterval`` each.
    fileprivate struct WarningKind: Hashable {
        let isPerAddress: Bool
        let isRejection: Bool
    }

    let limit: Int
    private let limitPerAddress: Int
    private let logger: Logger
    private let state = Mutex(State())
    private let refused = Mutex((total: 0, perAddress: 0))

    /// The minimum interval between log entries of one kind.
    private static let warningInterval = Duration.seconds(60)

    init(limit: Int, limitPerAddress: Int = .max, logger: Logger) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.logger = logger
    }

    /// The number of open connections.
    var count: Int { state.withLock(\.connections.count) }

    /// The numbers of connections that were rejected, by limit.
    var refusedCounts: (total: Int, perAddress: Int) { refused.withLock { $0 } }

    /// Acquires a slot for a new connection, which is idle. Closes the connection that has been idle longest when a limit is
    /// reached.
    ///
    /// - Parameters:
    ///   - address: The client address; `nil` for an address without a limit.
    ///   - close: Closes the new connection, to make room for another one. Called on any thread, at most once.
    /// - Throws: The limit, when it is reached and none of its connections is idle.
    func acquire(for address: UTF8Key? = nil, close: @escaping @Sendable () -> Void) throws(LimitReached) -> Slot {
        let (id, evicted, reached, isWarningDue) = state.withLock { state in
            let reached = reachedLimit(for: address, in: state)
            let evicted = reached.flatMap { state.evict(for: $0) }
            let isAdmitted = reached == nil || evicted != nil
            let id = isAdmitted ? state.add(Connection(address: address, close: close)) : nil
            let isWarningDue =
                reached.map { state.recordWarning($0, isRejection: !isAdmitted, every: Self.warningInterval) } ?? false
            return (id, evicted, reached, isWarningDue)
        }
        if let reached, isWarningDue { warn(of: reached, isRejection: id == nil) }
        evicted?.close()
        guard let id else {
            let reached = reached ?? .total(limit)
            refused.withLock { if case .address = reached { $0.perAddress += 1 } else { $0.total += 1 } }
            throw reached
        }
        return Slot(self, id: id)
    }

    /// Returns the limit that another connection would exceed. The limit of an address comes first: its own connections make room.
    private func reachedLimit(for address: UTF8Key?, in state: State) -> LimitReached? {
        if let address, let count = state.addresses[address]?.count, count >= limitPerAddress {
            return .address(address, limitPerAddress)
        }
        return state.connections.count >= limit ? .total(limit) : nil
    }

    private func warn(of reached: LimitReached, isRejection: Bool) {
        let action = isRejection ? "rejecting connections" : "closing the connections that have been idle longest"
        switch reached {
        case .total(let limit):
            logger.warning("Connection limit reached, \(action)", metadata: ["http.connection_limit": "\(limit)"])
        case .address(let address, let limit):
            logger.warning(
                "Connection limit of a client address reached, \(action)",
                metadata: ["client.address": "\(address.string)", "http.connection_limit": "\(limit)"]
            )
        }
    }

    /// The slot of one connection.
    final class Slot: Sendable {
        private let slots: ConnectionSlots
        private let id: ID

        fileprivate init(_ slots: ConnectionSlots, id: ID) {
            self.slots = slots
            self.id = id
        }

        /// Records that the connection has a request. Returns false if the connection has lost its slot and is being closed, in
        /// which case the request must not be processed.
        func beginRequests() -> Bool {
            slots.state.withLock { $0.setBusy(id) }
        }

        /// Records that all requests have been answered.
        func endRequests() {
            slots.state.withLock { $0.setIdle(id) }
        }

        /// Releases the slot once the connection is closed.
        func release() {
            slots.state.withLock { _ = $0.remove(id) }
        }
    }
}

extension ConnectionSlots.State {
    /// Adds an idle connection.
    fileprivate mutating func add(_ connection: ConnectionSlots.Connection) -> ConnectionSlots.ID {
        lastID += 1
        connections[lastID] = connection
        idle.append(lastID)
        if let address = connection.address {
            addresses[address, default: .init()].count += 1
            addresses[address]?.idle.append(lastID)
        }
        return lastID
    }

    /// Removes a connection. Returns `nil` if it has none of the slots any more.
    fileprivate mutating func remove(_ id: ConnectionSlots.ID) -> ConnectionSlots.Connection? {
        guard setBusy(id), let connection = connections.removeValue(forKey: id) else { return nil }
        if let address = connection.address {
            addresses[address]?.count -= 1
            if addresses[address]?.count == 0 { addresses[address] = nil }
        }
        return connection
    }

    /// Removes the connection that has been idle longest among those that count toward a limit; returns `nil` if none is idle.
    fileprivate mutating func evict(for limit: ConnectionSlots.LimitReached) -> ConnectionSlots.Connection? {
        let oldest =
            switch limit {
            case .total: idle.first
            case .address(let address, _): addresses[address]?.idle.first
            }
        return oldest.flatMap { remove($0) }
    }

    /// Removes a connection from the idle ones. Returns false if it has none of the slots any more.
    fileprivate mutating func setBusy(_ id: ConnectionSlots.ID) -> Bool {
        guard let connection = connections[id] else { return false }
        idle.remove(id)
        if let address = connection.address { addresses[address]?.idle.remove(id) }
        return true
    }

    /// Adds a connection to the idle ones, as the one that has become idle last.
    fileprivate mutating func setIdle(_ id: ConnectionSlots.ID) {
        guard setBusy(id), let connection = connections[id] else { return }
        idle.append(id)
        if let address = connection.address { addresses[address]?.idle.append(id) }
    }

    /// Records a warning, unless the last one of its kind was less than `interval` ago. Returns whether to log it.
    fileprivate mutating func recordWarning(
        _ limit: ConnectionSlots.LimitReached,
        isRejection: Bool,
        every interval: Duration
    ) -> Bool {
        let isPerAddress = if case .address = limit { true } else { false }
        let kind = ConnectionSlots.WarningKind(isPerAddress: isPerAddress, isRejection: isRejection)
        let now = ContinuousClock.now
        if let lastWarning = lastWarnings[kind], now - lastWarning < interval { return false }
        lastWarnings[kind] = now
        return true
    }
}
