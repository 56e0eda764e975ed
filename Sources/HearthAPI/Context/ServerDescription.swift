import Synchronization

/// The version, limits and live state of a server, as reported by `server.info` and the OpenRPC document.
package struct ServerDescription: Sendable {
    /// The product name.
    package static let name = "Hearth"
    /// The version of the program and of its API.
    package static let version = "0.1.0"

    /// The start time of the server.
    package let startTime: ContinuousClock.Instant
    /// The limits that apply to clients.
    package let limits: ServiceLimits
    /// The live counters of the server.
    package let activity = ServerActivity()
    /// The most recent log entries.
    package let log: RecentLog
    /// The metrics.
    package let metrics: ServerMetrics
    /// The audit log; `nil` if there is none.
    package let audit: AuditLog?

    package init(
        startTime: ContinuousClock.Instant = .now,
        limits: ServiceLimits = ServiceLimits(),
        log: RecentLog = RecentLog(),
        metrics: ServerMetrics = ServerMetrics(),
        audit: AuditLog? = nil
    ) {
        self.startTime = startTime
        self.limits = limits
        self.log = log
        self.metrics = metrics
        self.audit = audit
    }
}

/// Live counters of a server.
package final class ServerActivity: Sendable {
    private let watchers = Mutex(0)
    private let stopping = Atomic(false)

    package init() {}

    /// The number of open watch streams.
    package var watcherCount: Int { watchers.withLock { $0 } }

    /// True once the server has been told to stop, while it may still accept requests.
    package var isStopping: Bool { stopping.load(ordering: .relaxed) }

    /// Records that the server has been told to stop.
    package func beginStopping() {
        stopping.store(true, ordering: .relaxed)
    }

    /// Adds to the number of open watch streams.
    package func adjustWatcherCount(by change: Int) {
        watchers.withLock { $0 += change }
    }
}
