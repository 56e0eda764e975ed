package import DocumentModel
import DocumentStore
import PrometheusMetrics

/// The metrics of backups and of the archive of commits. They are exported by servers that have a folder for backups.
package struct BackupMetrics: Sendable {
    private let lastSuccess: Gauge
    private let seconds: Gauge
    private let bytes: Gauge
    private let failures: Counter
    private let verified: Gauge
    private let lastArchived: Gauge
    private let archiveFailures: Counter

    init(_ registry: MetricsRegistry) {
        lastSuccess = registry.gauge(
            "hearth_backup_last_success_timestamp_seconds",
            "The time at which the last backup was complete, in Unix time; 0 before the first one."
        )
        seconds = registry.gauge("hearth_backup_seconds", "The duration of the last complete backup.")
        bytes = registry.gauge("hearth_backup_bytes", "The size of the last complete backup.")
        failures = registry.counter("hearth_backup_failures_total", "Backups that failed.")
        verified = registry.gauge(
            "hearth_backup_verified_timestamp_seconds",
            "The time at which a backup was last read as a whole and found without a fault, in Unix time; 0 before the first time."
        )
        lastArchived = registry.gauge(
            "hearth_archive_last_success_timestamp_seconds",
            "The time up to which commits were last archived beside the backups, in Unix time."
        )
        archiveFailures = registry.counter("hearth_archive_failures_total", "Failed attempts to archive commits.")
    }

    /// Records the last complete backup; `nil` if there is none yet.
    func record(_ backup: Backup?) {
        lastSuccess.set(backup?.endTime.unixSeconds ?? 0)
        guard let backup else { return }
        seconds.set(backup.endTime.unixSeconds - backup.startTime.unixSeconds)
        bytes.set(Double(backup.byteCount))
    }

    func recordFailure() {
        failures.increment()
    }

    /// Records the time of the last verification; `nil` if there was none.
    func recordVerification(at time: Timestamp?) {
        verified.set(time?.unixSeconds ?? 0)
    }

    /// Records an attempt to archive commits.
    ///
    /// - Parameter time: The time at which it was begun; `nil` if it failed.
    func recordArchiving(upTo time: Timestamp?) {
        if let time { lastArchived.set(time.unixSeconds) } else { archiveFailures.increment() }
    }
}

extension Timestamp {
    /// The Unix time in seconds.
    package var unixSeconds: Double { Double(microseconds) / 1e6 }
}
