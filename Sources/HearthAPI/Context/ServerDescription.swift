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
    /// The most recent slow requests.
    package let slowCalls = SlowCallLog()
    /// The metrics.
    package let metrics: ServerMetrics
    /// The audit log; `nil` if there is none.
    package let audit: AuditLog?
    /// The state of a standby; `nil` on a server that accepts writes.
    package let standby: StandbyStatus?

    package init(
        startTime: ContinuousClock.Instant = .now,
        limits: ServiceLimits = ServiceLimits(),
        log: RecentLog = RecentLog(),
        metrics: ServerMetrics = ServerMetrics(),
        audit: AuditLog? = nil,
        standby: StandbyStatus? = nil
    ) {
        self.startTime = startTime
        self.limits = limits
        self.log = log
        self.metrics = metrics
        self.audit = audit
        self.standby = standby
    }
}

/// Live counters of a server.
package final class ServerActivity: Sendable {
    private let watchers = Mutex(0)
    private let standbys = Mutex(0)
    private let listenTargets = Atomic(0)
    private let stopping = Atomic(false)
    private let pendingRequests = Atomic(0)

    package init() {}

    /// The number of open watch streams.
    package var watcherCount: Int { watchers.withLock { $0 } }

    /// The number of requests whose responses have not begun.
    package var pendingRequestCount: Int { pendingRequests.load(ordering: .relaxed) }

    /// Adds to the number of requests whose responses have not begun.
    package func adjustPendingRequestCount(by change: Int) {
        pendingRequests.add(change, ordering: .relaxed)
    }

    /// The number of targets of open streams that may have several.
    package var listenTargetCount: Int { listenTargets.load(ordering: .relaxed) }

    /// Adds to the number of targets of streams that may have several.
    func adjustListenTargetCount(by change: Int) {
        listenTargets.add(change, ordering: .relaxed)
    }

    /// The number of standbys that follow this server.
    package var standbyCount: Int { standbys.withLock { $0 } }

    /// Adds to the number of standbys.
    func adjustStandbyCount(by change: Int) {
        standbys.withLock { $0 += change }
    }

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
