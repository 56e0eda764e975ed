import DocumentModel
import DocumentStore
import PrometheusMetrics

/// The metrics of a server's configuration.
package struct ConfigurationMetrics: Sendable {
    private let success: Gauge
    private let time: Gauge

    init(_ registry: MetricsRegistry) {
        success = registry.gauge(
            "hearth_config_reload_success",
            "1 if the configuration was read at the start or applied at the last reload, 0 if it was refused then."
        )
        time = registry.gauge(
            "hearth_config_reload_timestamp_seconds",
            "The time at which the configuration in force was read, in Unix time."
        )
        recordReload(isSuccess: true)
    }

    /// Records the result of reading the configuration.
    package func recordReload(isSuccess: Bool) {
        success.set(isSuccess ? 1 : 0)
        if isSuccess { time.set(Timestamp.current().unixSeconds) }
    }
}
