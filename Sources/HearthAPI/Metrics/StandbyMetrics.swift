import DocumentModel
import PrometheusMetrics

/// The metrics of replication. Those of a standby are exported by standbys only.
enum StandbyMetrics {
    /// Declares the families.
    ///
    /// - Parameter standby: Returns the state of the standby; `nil` on a primary.
    static func declare(in registry: MetricsRegistry, activity: ServerActivity, standby: StandbyStatus?) {
        registry.sampledValue("hearth_standby", "1 for a standby, 0 for a server that accepts writes.") { standby == nil ? 0 : 1 }
        registry.sampledValue("hearth_connected_standbys", "The standbys that are connected to this server.") {
            standby == nil ? Double(activity.standbyCount) : nil
        }
        registry.sampledValue(
            "hearth_standby_connected",
            "1 while a standby receives messages of its primary, 0 while it does not."
        ) {
            standby.map { $0.isConnected ? 1 : 0 }
        }
        registry.sampledValue(
            "hearth_standby_failed",
            "1 while a standby cannot follow its primary, or one of its databases, because of an error, 0 otherwise. A primary that cannot "
                + "be reached is none."
        ) {
            standby.map { $0.failure == nil ? 0 : 1 }
        }
        registry.sampledValue(
            "hearth_standby_lag_seconds",
            "The time for which a standby may lack commits of its primary; +Inf before the first heartbeat."
        ) {
            standby.map { $0.age.map { $0 / .seconds(1) } ?? .infinity }
        }
        registry.sampledValue("hearth_standby_lag_commits", "The commits of the primary that a standby knows of and lacks.") {
            standby.map { Double($0.lag) }
        }
        registry.sampledValue(
            "hearth_standby_last_contact_timestamp_seconds",
            "The time at which a standby last received something from its primary, in Unix time; 0 before the first time."
        ) {
            standby.map { $0.lastContact?.unixSeconds ?? 0 }
        }
        registry.sampledValue(
            "hearth_standby_received_bytes_total",
            "Bytes that a standby has received from its primary.",
            .counter
        ) {
            standby.map { Double($0.receivedBytes) }
        }
        registry.sampledValue("hearth_standby_snapshots_total", "Snapshots that a standby has received.", .counter) {
            standby.map { Double($0.snapshotCount) }
        }
    }
}
