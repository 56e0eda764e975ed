import Logging
import NIOCore
import Synchronization

/// What the connections of a server have in common.
struct ConnectionConfiguration: Sendable {
    /// How long the target and each field of a request may be, and all fields together.
    static let maximumHeadBytes = 32 << 10

    let maximumBodyBytes: Int
    let stallTimeout: TimeAmount
    let lingerTimeout: TimeAmount
    let headTimeout: TimeAmount
    let bodyTimeout: TimeAmount
    let minimumBodyRate: Int
    let slots: ConnectionSlots
    let proxies: TrustedProxies
    let shutdown: ShutdownClock
    let date = CurrentDate()

    init(_ configuration: HearthServerConfiguration, maximumBodyBytes: Int, logger: Logger) {
        self.maximumBodyBytes = maximumBodyBytes
        self.stallTimeout = TimeAmount(configuration.stallTimeout)
        self.lingerTimeout = TimeAmount(configuration.lingerTimeout)
        self.headTimeout = TimeAmount(configuration.headTimeout)
        self.bodyTimeout = TimeAmount(configuration.bodyTimeout)
        self.minimumBodyRate = configuration.minimumBodyRate
        self.slots = ConnectionSlots(
            limit: configuration.maximumConnections ?? OpenFileLimit.current.connections,
            limitPerAddress: configuration.maximumConnectionsPerAddress,
            logger: logger
        )
        self.proxies = TrustedProxies(configuration.trustedProxies)
        self.shutdown = ShutdownClock(grace: TimeAmount(configuration.shutdownGrace))
    }

    /// How long a client may take to send so many bytes of a body.
    func bodyTimeout(after byteCount: Int) -> TimeAmount {
        bodyTimeout + .nanoseconds(Int64(byteCount) * 1_000_000_000 / Int64(minimumBodyRate))
    }

    /// How often it is looked at a connection whose client accepts nothing.
    var stallCheckInterval: TimeAmount {
        min(.seconds(1), .nanoseconds(stallTimeout.nanoseconds / 4), .nanoseconds(shutdown.grace.nanoseconds / 2))
    }
}

/// Since when a server has been stopping.
final class ShutdownClock: Sendable {
    let grace: TimeAmount
    private let begin = Mutex<NIODeadline?>(nil)

    init(grace: TimeAmount) {
        self.grace = grace
    }

    func start() {
        begin.withLock { $0 = $0 ?? .now() }
    }

    /// Whether clients that do not accept what is sent to them have had the time that they are given.
    func isOverdue(at now: NIODeadline) -> Bool {
        begin.withLock { begin in
            begin.map { now - $0 >= grace } ?? false
        }
    }
}
