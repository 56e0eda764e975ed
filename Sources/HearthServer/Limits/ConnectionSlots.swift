import Logging
import Synchronization

/// Counts the open connections, and tells which of them there is room for.
final class ConnectionSlots: Sendable {
    fileprivate struct State {
        var count = 0
        var lastWarning: ContinuousClock.Instant?
    }

    let limit: Int
    private let logger: Logger
    private let state = Mutex(State())

    /// How often the log says that connections are refused, however many there are.
    private static let warningInterval = Duration.seconds(60)

    init(limit: Int, logger: Logger) {
        self.limit = limit
        self.logger = logger
    }

    /// Counts a connection, unless as many are open as may be.
    func take() -> Bool {
        let (isFree, warns) = state.withLock { state in
            guard state.count < limit else { return (false, state.isWarningDue(every: Self.warningInterval)) }
            state.count += 1
            return (true, false)
        }
        if warns {
            logger.warning("connections are refused", metadata: ["http.connections": "\(limit)"])
        }
        return isFree
    }

    /// Notes that a connection that was counted is closed.
    func giveBack() {
        state.withLock { $0.count -= 1 }
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
