package import CoreMetrics
internal import Synchronization

/// The metrics that libraries make by swift-metrics, exported with those of a registry.
///
/// Their names are made valid: `nio.tasks` is `nio_tasks`; a counter's ends with `_total`, a timer's with `_seconds`. A metric whose
/// name is that of a declared family, or that would exceed the limits, is not exported: libraries may take labels from what clients
/// send.
package final class PrometheusMetricsFactory: MetricsFactory {
    /// The maximum number of series of all libraries.
    package static let maximumSeries = 1_000

    private struct State {
        var families: [String: LibraryFamily] = [:]
        var seriesCount = 0
    }

    private let registry: MetricsRegistry
    private let state = Mutex(State())

    package init(_ registry: MetricsRegistry) {
        self.registry = registry
    }

    package func makeCounter(label: String, dimensions: [(String, String)]) -> any CounterHandler {
        series(label, dimensions, .counter, suffix: "_total") ?? NOOPMetricsHandler.instance
    }

    package func makeFloatingPointCounter(
        label: String,
        dimensions: [(String, String)]
    ) -> any FloatingPointCounterHandler {
        series(label, dimensions, .counter, suffix: "_total") ?? NOOPMetricsHandler.instance
    }

    package func makeMeter(label: String, dimensions: [(String, String)]) -> any MeterHandler {
        series(label, dimensions, .gauge, suffix: "") ?? NOOPMetricsHandler.instance
    }

    package func makeRecorder(label: String, dimensions: [(String, String)], aggregate: Bool) -> any RecorderHandler {
        series(label, dimensions, aggregate ? .summary : .gauge, suffix: "") ?? NOOPMetricsHandler.instance
    }

    package func makeTimer(label: String, dimensions: [(String, String)]) -> any TimerHandler {
        series(label, dimensions, .summary, suffix: "_seconds") ?? NOOPMetricsHandler.instance
    }

    // A series stays: Prometheus takes one that vanishes for a restart.
    package func destroyCounter(_ handler: any CounterHandler) {}
    package func destroyFloatingPointCounter(_ handler: any FloatingPointCounterHandler) {}
    package func destroyMeter(_ handler: any MeterHandler) {}
    package func destroyRecorder(_ handler: any RecorderHandler) {}
    package func destroyTimer(_ handler: any TimerHandler) {}

    /// Returns the series with a label and dimensions, the same for each call; `nil` if it is not exported.
    private func series(
        _ label: String,
        _ dimensions: [(String, String)],
        _ kind: MetricDescriptor.Kind,
        suffix: String
    ) -> LibrarySeries? {
        var name = Self.validName(label)
        if !name.hasSuffix(suffix) { name += suffix }
        return state.withLock { state in
            let family: LibraryFamily
            if let known = state.families[name] {
                guard known.descriptor.kind == kind else { return nil }
                family = known
            } else {
                guard state.seriesCount < Self.maximumSeries, !registry.contains(name) else { return nil }
                family = LibraryFamily(MetricDescriptor(name, "Of a library: \(label)", kind))
                state.families[name] = family
                registry.declare(family)
            }
            let labels = SeriesLabels(dimensions.sorted { $0.0 < $1.0 }.map { (Self.validName($0.0), $0.1) })
            if let series = family.series(labels) { return series }
            guard state.seriesCount < Self.maximumSeries else { return nil }
            state.seriesCount += 1
            return family.addSeries(labels)
        }
    }

    /// Returns a name in which every character that a name cannot have is an underscore.
    static func validName(_ label: String) -> String {
        let bytes = label.utf8.map { byte in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "0")...UInt8(ascii: "9"):
                byte
            default: UInt8(ascii: "_")
            }
        }
        let name = String(decoding: bytes, as: UTF8.self)
        return bytes.first.map { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) } ?? true ? "_" + name : name
    }
}
