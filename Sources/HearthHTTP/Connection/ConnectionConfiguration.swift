import Concurrency
import Logging
import NIOCore
import Synchronization

/// The configuration and shared state of a server's connections.
struct ConnectionConfiguration: Sendable {
    /// The maximum length of a request's target, of each header field, and of all fields together.
    static let maximumHeadBytes = 32 << 10

    /// The certificate of connections with TLS; `nil` for connections without.
    let certificate: ServerCertificate?
    let maximumBodyBytes: Int
    let maximumDiscardedBytes: Int
    let stallTimeout: TimeAmount
    let stallGrace: TimeAmount
    let lingerTimeout: TimeAmount
    let headTimeout: TimeAmount
    let bodyTimeout: TimeAmount
    let idleTimeout: TimeAmount
    let minimumBodyRate: Int
    let slots: ConnectionSlots
    let requestSlots: RequestSlots
    /// The memory for the bodies that HTTP/2 clients may send ahead of their readers.
    let windowBudget: MemoryBudget
    let policy: RequestPolicy.Current
    let shutdown: ShutdownClock
    let date = HTTPDateCache()

    init(_ configuration: HTTPServerConfiguration, policy: RequestPolicy, maximumBodyBytes: Int, logger: Logger) {
        self.certificate = configuration.certificate
        self.maximumBodyBytes = maximumBodyBytes
        self.maximumDiscardedBytes = configuration.maximumDiscardedBytes
        self.stallTimeout = TimeAmount(configuration.stallTimeout)
        self.stallGrace = TimeAmount(configuration.stallGrace)
        self.lingerTimeout = TimeAmount(configuration.lingerTimeout)
        self.headTimeout = TimeAmount(configuration.headTimeout)
        self.bodyTimeout = TimeAmount(configuration.bodyTimeout)
        self.idleTimeout = TimeAmount(configuration.idleTimeout)
        self.minimumBodyRate = configuration.minimumBodyRate
        self.slots = ConnectionSlots(
            limit: configuration.maximumConnections ?? OpenFileLimit.current.connections,
            limitPerAddress: configuration.maximumConnectionsPerAddress,
            logger: logger
        )
        self.requestSlots = RequestSlots(limit: configuration.maximumStreams)
        self.windowBudget = MemoryBudget(limit: configuration.maximumBufferedBodyBytes, smallReservationBytes: .max)
        self.policy = RequestPolicy.Current(policy)
        self.shutdown = ShutdownClock(grace: TimeAmount(configuration.shutdownGrace))
    }

    /// Returns the time that a client has to send the given number of body bytes.
    func bodyTimeout(after byteCount: Int) -> TimeAmount {
        bodyTimeout + .nanoseconds(Int64(byteCount) * 1_000_000_000 / Int64(minimumBodyRate))
    }

    /// The time for which data of a stream may stay unacknowledged: longer than the client may take to read it.
    var unacknowledgedStreamTimeout: TimeAmount { stallTimeout + stallGrace + .seconds(10) }

    /// The interval at which the streams of an HTTP/2 connection are checked.
    var streamCheckInterval: TimeAmount {
        min(stallCheckInterval, .nanoseconds(bodyTimeout.nanoseconds / 4))
    }

    /// The interval at which a connection whose client does not read is checked.
    var stallCheckInterval: TimeAmount {
        min(.seconds(1), .nanoseconds(stallTimeout.nanoseconds / 4), .nanoseconds(shutdown.grace.nanoseconds / 2))
    }
}

/// The grace period of a shutdown.
final class ShutdownClock: Sendable {
    let grace: TimeAmount
    private let startTime = Mutex<NIODeadline?>(nil)

    init(grace: TimeAmount) {
        self.grace = grace
    }

    func start() {
        startTime.withLock { $0 = $0 ?? .now() }
    }

    var hasStarted: Bool {
        startTime.withLock { $0 != nil }
    }

    /// Returns whether the shutdown started more than the grace period ago, so that unresponsive clients are disconnected.
    func isGracePeriodOver(at now: NIODeadline) -> Bool {
        startTime.withLock { startTime in
            startTime.map { now - $0 >= grace } ?? false
        }
    }
}
