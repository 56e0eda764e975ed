/// The text formats in which metrics are exported.
package enum ExpositionFormat: Sendable {
    /// Prometheus' text format 0.0.4.
    case text
    /// OpenMetrics 1.0.
    case openMetrics

    /// The value of `Content-Type`. Prometheus 3 fails a scrape with any other spelling.
    package var contentType: String {
        switch self {
        case .text: "text/plain; version=0.0.4; charset=utf-8"
        case .openMetrics: "application/openmetrics-text; version=1.0.0; charset=utf-8"
        }
    }
}
