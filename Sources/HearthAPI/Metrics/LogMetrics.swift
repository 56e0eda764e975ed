package import Logging
import PrometheusMetrics

/// The number of log entries, by level.
package struct LogMetrics: Sendable {
    private let counters: [Logger.Level: Counter]

    init(_ registry: MetricsRegistry) {
        let levels = Logger.Level.allCases
        let messages = registry.counters(
            "hearth_log_messages_total",
            "Log entries by level, including repeated and dropped ones that were not written.",
            [MetricLabel("level", levels.map(\.rawValue))]
        )
        counters = Dictionary(uniqueKeysWithValues: levels.map { ($0, messages[$0.rawValue]) })
    }

    /// Counts an entry.
    package func count(_ level: Logger.Level) {
        counters[level]?.increment()
    }
}
