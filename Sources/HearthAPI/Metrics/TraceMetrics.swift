import PrometheusMetrics
package import SpanRecording

/// The numbers of spans of traces, by outcome.
package struct TraceMetrics: Sendable {
    private let counters: [SpanOutcome: Counter]

    init(_ registry: MetricsRegistry) {
        let outcomes = SpanOutcome.allCases
        let spans = registry.counters(
            "hearth_trace_spans_total",
            "Spans of sampled traces by outcome: exported, dropped while too many waited, failed, or rejected by the collector.",
            [MetricLabel("outcome", outcomes.map(\.rawValue))]
        )
        counters = Dictionary(uniqueKeysWithValues: outcomes.map { ($0, spans[$0.rawValue]) })
    }

    /// Counts spans.
    package func count(_ outcome: SpanOutcome, _ count: Int) {
        counters[outcome]?.increment(by: count)
    }
}
