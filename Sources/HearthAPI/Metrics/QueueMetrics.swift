import DocumentStore
import PrometheusMetrics
import Synchronization

/// The times that work waits in queues, and the calls that were refused because they had waited too long.
package final class QueueMetrics: Sendable {
    private let seconds: HistogramFamily
    private let refused = Atomic(0)

    init(_ registry: MetricsRegistry) {
        seconds = registry.histograms(
            "hearth_queue_seconds",
            "Times that commits, reads of single documents, scans and queries of all databases waited for a thread, by queue.",
            MetricLabel("queue", StoreQueue.allCases.map(\.rawValue))
        )
    }

    /// Records a wait in a queue of a store.
    func record(_ queue: StoreQueue, nanoseconds: UInt64) {
        seconds[StoreQueue.allCases.firstIndex(of: queue) ?? 0].record(nanoseconds)
    }

    /// Records a call that was refused because of its time in queues.
    package func recordRefusal() {
        refused.add(1, ordering: .relaxed)
    }

    /// The number of calls that were refused.
    package var refusedCount: Int { refused.load(ordering: .relaxed) }
}
