package import PrometheusMetrics

/// The metrics of a server: the registry in which its parts declare families, and those of the API and the store.
package struct ServerMetrics: Sendable {
    package let registry: MetricsRegistry
    /// The statistics that the store reports.
    package let store: StoreMetrics
    /// The JSON-RPC calls.
    package let calls: CallMetrics
    /// The decisions about callers.
    package let access: AccessMetrics
    /// The configuration.
    package let configuration: ConfigurationMetrics
    /// The backups.
    package let backups: BackupMetrics
    /// The entries of the log.
    package let log: LogMetrics
    /// The spans of traces.
    package let traces: TraceMetrics
    /// The activity over the last hour, day and week.
    package let history = ActivityHistory()
    let state: StateMetrics

    /// Declares the families in a new registry.
    package init() {
        registry = MetricsRegistry()
        ProcessMetrics.declare(in: registry)
        calls = CallMetrics(registry)
        store = StoreMetrics(registry)
        state = StateMetrics(registry)
        access = AccessMetrics(registry)
        backups = BackupMetrics(registry)
        configuration = ConfigurationMetrics(registry)
        log = LogMetrics(registry)
        traces = TraceMetrics(registry)
    }
}
