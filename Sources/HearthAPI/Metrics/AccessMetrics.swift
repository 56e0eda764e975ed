package import PrometheusMetrics

/// The metrics of decisions about callers.
package struct AccessMetrics: Sendable {
    /// The requests whose credentials were refused, or that had none where some are required.
    package let authenticationFailures: Counter

    init(_ registry: MetricsRegistry) {
        authenticationFailures = registry.counter(
            "hearth_auth_failures_total",
            "Requests rejected because their credentials were missing, unknown or expired."
        )
    }
}
