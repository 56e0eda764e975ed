import DocumentStore
import PrometheusMetrics

/// The metrics of the connections to an engine. They are exported by servers with an engine only.
enum EngineMetrics {
    /// Declares the families.
    ///
    /// - Parameter status: Returns the state of the connections; `nil` without an engine.
    static func declare(in registry: MetricsRegistry, status: @escaping @Sendable () -> EngineStatus?) {
        registry.sampledValue(
            "hearth_engine_reached",
            "1 if the database engine was reached at the last attempt to connect, 0 if it was not."
        ) {
            status().map { $0.isReached ? 1 : 0 }
        }
        registry.sampledValue("hearth_engine_sessions", "The maximum number of connections to the database engine for calls.") {
            status().map { Double($0.sessionCount) }
        }
        registry.sampledValue("hearth_engine_sessions_used", "Connections to the database engine that calls use.") {
            status().map { Double($0.usedSessionCount) }
        }
        registry.sampledValue("hearth_engine_waiting_calls", "Calls that wait for a connection to the database engine.") {
            status().map { Double($0.waitingCount) }
        }
        registry.sampledValue(
            "hearth_engine_log_age_seconds",
            "The time since the server has last looked for commits of other servers in the database engine."
        ) {
            status().map { $0.logAge / .seconds(1) }
        }
        registry.sampledValue("hearth_engine_leases", "Databases whose lease this server has.") {
            status().map { Double($0.leaseCount) }
        }
        registry.sampledValue(
            "hearth_engine_retries_total",
            "Transactions of the database engine that were tried again after a conflict or a lost connection.",
            .counter
        ) {
            status().map { Double($0.retryCount) }
        }
        registry.sampledValue(
            "hearth_engine_replaced_histories_total",
            "Times that the database engine was found to have lost commits that it had acknowledged.",
            .counter
        ) {
            status().map { Double($0.replacedHistoryCount) }
        }
        registry.sampledValue(
            "hearth_engine_forwarded_commits_total",
            "Commits that this server has forwarded to the server with the lease, and that it has decided.",
            .counter
        ) {
            status().map { Double($0.forwardedCount) }
        }
        registry.sampledValue(
            "hearth_engine_failed_forwards_total",
            "Batches of commits to which the server with the lease gave no answer, so that this server has made them.",
            .counter
        ) {
            status().map { Double($0.failedForwardCount) }
        }
    }
}
