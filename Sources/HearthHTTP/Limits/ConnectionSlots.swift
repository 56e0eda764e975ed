import Logging
import Synchronization
import UTF8Text

/// The limits of open connections, in total and per client address.
final class ConnectionSlots: Sendable {
    fileprivate struct State {
        var count = 0
        /// The connections of each limited address.
        var countByAddress: [UTF8Key: Int] = [:]
        var lastWarning: ContinuousClock.Instant?
    }

    let limit: Int
    let limitPerAddress: Int
    private let logger: Logger
    private let state = Mutex(State())

    /// The minimum interval between log entries about rejected connections.
    private static let warningInterval = Duration.seconds(60)

    init(limit: Int, limitPerAddress: Int = .max, logger: Logger) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.logger = logger
    }

    /// Acquires a slot. Returns false if a limit is reached.
    ///
    /// - Parameter address: The client address; nil for an address without a limit.
    func acquire(for address: UTF8Key? = nil) -> Bool {
        let (isAdmitted, warns) = state.withLock { state in
            let isAddressFull = address.map { state.countByAddress[$0, default: 0] >= limitPerAddress } ?? false
            guard state.count < limit, !isAddressFull else { return (false, state.isWarningDue(every: Self.warningInterval)) }
            state.count += 1
            if let address { state.countByAddress[address, default: 0] += 1 }
            return (true, false)
        }
        if warns {
            logger.warning("Connection limit reached, rejecting connections", metadata: ["http.connection_limit": "\(limit)"])
        }
        return isAdmitted
    }

    /// Releases a slot.
    func release(for address: UTF8Key? = nil) {
        state.withLock { state in
            state.count -= 1
            if let address { state.countByAddress.decrement(address) }
        }
    }
}

extension ConnectionSlots.State {
    fileprivate mutating func isWarningDue(every interval: Duration) -> Bool {
        let now = ContinuousClock.now
        if let lastWarning, now - lastWarning < interval { return false }
        lastWarning = now
        return true
    }
}
