import Logging
import StrictJSON
import Synchronization

/// Counts the open connections, and tells which of them there is room for.
final class ConnectionSlots: Sendable {
    fileprivate struct State {
        var count = 0
        /// The connections of each address that is counted by itself.
        var countByAddress: [UTF8Key: Int] = [:]
        var lastWarning: ContinuousClock.Instant?
    }

    let limit: Int
    let limitPerAddress: Int
    private let logger: Logger
    private let state = Mutex(State())

    /// How often the log says that connections are refused, however many there are.
    private static let warningInterval = Duration.seconds(60)

    init(limit: Int, limitPerAddress: Int = .max, logger: Logger) {
        self.limit = limit
        self.limitPerAddress = limitPerAddress
        self.logger = logger
    }

    /// Counts a connection, unless as many are open as may be.
    ///
    /// - Parameter address: Whose it is; nil where clients are not told apart by their addresses.
    func take(for address: UTF8Key? = nil) -> Bool {
        let (isFree, warns) = state.withLock { state in
            let isAddressFull = address.map { state.countByAddress[$0, default: 0] >= limitPerAddress } ?? false
            guard state.count < limit, !isAddressFull else { return (false, state.isWarningDue(every: Self.warningInterval)) }
            state.count += 1
            if let address { state.countByAddress[address, default: 0] += 1 }
            return (true, false)
        }
        if warns {
            logger.warning("connections are refused", metadata: ["http.connections": "\(limit)"])
        }
        return isFree
    }

    /// Notes that a connection that was counted is closed.
    func giveBack(for address: UTF8Key? = nil) {
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
