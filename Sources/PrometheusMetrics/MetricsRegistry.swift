internal import Synchronization

/// The families of a server, declared when its parts are made, and exported together.
///
/// ```swift
/// let commits = registry.counter("hearth_commits_total", "Commits that were made durable.")
/// commits.increment()
/// ```
///
/// A lock is held for declaring and for exporting, never for counting: who counts keeps what declaring has returned. Counters and
/// histograms that are declared again with the same labels go on; any other family replaces the one with its name.
package final class MetricsRegistry: Sendable {
    private struct State {
        var families: [any MetricFamily] = []
        var positions: [String: Int] = [:]
    }

    private let state = Mutex(State())

    package init() {}

    /// The declared families, in the order of their declaration.
    package var descriptors: [MetricDescriptor] { state.withLock { $0.families.map(\.descriptor) } }

    /// Returns the state of all families, in a text format.
    package func text(_ format: ExpositionFormat = .text) -> [UInt8] {
        let families = state.withLock(\.families)
        var writer = ExpositionWriter(format)
        for family in families { writer.write(family) }
        return writer.finish()
    }

    func family(named name: String) -> (any MetricFamily)? {
        state.withLock { state in state.positions[name].map { state.families[$0] } }
    }

    func contains(_ name: String) -> Bool {
        state.withLock { $0.positions[name] != nil }
    }

    @discardableResult
    func declare<Family: MetricFamily>(_ family: Family) -> Family {
        state.withLock { state in
            let name = family.descriptor.name
            guard let position = state.positions[name] else {
                state.positions[name] = state.families.count
                state.families.append(family)
                return family
            }
            if let known = state.families[position] as? Family, known.isContinued(by: family) { return known }
            state.families[position] = family
            return family
        }
    }
}

extension MetricsRegistry {
    /// Declares a counter without labels.
    package func counter(_ name: String, _ help: String) -> Counter {
        declare(CounterFamily(MetricDescriptor(name, help, .counter), labels: []) { _ in true })[]
    }

    /// Declares counters that are told apart by labels.
    ///
    /// - Parameter isInitial: Returns whether the series with these label values is exported while it is zero. By default, those
    ///   are exported whose values are all declared.
    package func counters(
        _ name: String,
        _ help: String,
        _ labels: [MetricLabel],
        isInitial: ([String]) -> Bool = { !$0.contains(MetricLabel.other) }
    ) -> CounterFamily {
        declare(CounterFamily(MetricDescriptor(name, help, .counter), labels: labels, isInitial: isInitial))
    }

    /// Declares a gauge that is set when its value changes.
    package func gauge(_ name: String, _ help: String) -> Gauge {
        declare(Gauge(MetricDescriptor(name, help, .gauge)))
    }

    /// Declares series whose values are asked for at the time of a scrape.
    ///
    /// - Parameter read: Returns the series, with label values from a fixed set. Must return without waiting for anything.
    package func sampled(
        _ name: String,
        _ help: String,
        _ kind: MetricDescriptor.Kind = .gauge,
        read: @escaping @Sendable () -> [SampledFamily.Sample]
    ) {
        declare(SampledFamily(MetricDescriptor(name, help, kind), read: read))
    }

    /// Declares a value that is asked for at the time of a scrape; it is left out while it is `nil`.
    package func sampledValue(
        _ name: String,
        _ help: String,
        _ kind: MetricDescriptor.Kind = .gauge,
        read: @escaping @Sendable () -> Double?
    ) {
        sampled(name, help, kind) { read().map { [SampledFamily.Sample($0)] } ?? [] }
    }

    /// Declares a histogram.
    package func histogram(_ name: String, _ help: String, _ buckets: HistogramBuckets = .seconds) -> Histogram {
        declare(HistogramFamily(MetricDescriptor(name, help, .histogram), label: nil, buckets: buckets))[0]
    }

    /// Declares histograms that are told apart by a label.
    package func histograms(
        _ name: String,
        _ help: String,
        _ label: MetricLabel,
        _ buckets: HistogramBuckets = .seconds
    ) -> HistogramFamily {
        declare(HistogramFamily(MetricDescriptor(name, help, .histogram), label: label, buckets: buckets))
    }
}
