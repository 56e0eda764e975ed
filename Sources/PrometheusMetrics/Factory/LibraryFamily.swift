internal import CoreMetrics
internal import Synchronization

/// The series that libraries have made under one name.
final class LibraryFamily: MetricFamily {
    let descriptor: MetricDescriptor
    private let series = Mutex<[(labels: SeriesLabels, series: LibrarySeries)]>([])

    init(_ descriptor: MetricDescriptor) {
        self.descriptor = descriptor
    }

    func series(_ labels: SeriesLabels) -> LibrarySeries? {
        series.withLock { series in series.first { $0.labels == labels }?.series }
    }

    func addSeries(_ labels: SeriesLabels) -> LibrarySeries {
        let new = LibrarySeries(isSummary: descriptor.kind == .summary)
        series.withLock { $0.append((labels, new)) }
        return new
    }

    func writeSeries(to writer: inout ExpositionWriter) {
        for (labels, series) in series.withLock({ $0 }) {
            switch descriptor.kind {
            case .summary, .histogram:
                writer.sample(descriptor.name + "_sum", labels, series.sum.double)
                writer.sample(descriptor.name + "_count", labels, Double(series.count.integer))
            case .counter, .gauge:
                writer.sample(descriptor.name, labels, series.sum.double)
            }
        }
    }
}

/// A series of a library: the last value, or the sum and the number of values.
final class LibrarySeries: Sendable {
    /// The sum of all values, or the last one.
    let sum = AtomicCell()
    let count = AtomicCell()
    private let isSummary: Bool

    init(isSummary: Bool) {
        self.isSummary = isSummary
    }

    func record(_ value: Double) {
        guard isSummary else { return sum.store(value) }
        sum.accumulate(value)
        count.add(1)
    }
}

extension LibrarySeries: CounterHandler, FloatingPointCounterHandler {
    func increment(by amount: Int64) {
        sum.accumulate(Double(amount))
    }

    func increment(by amount: Double) {
        sum.accumulate(amount)
    }

    func reset() {
        sum.store(0)
    }
}

extension LibrarySeries: MeterHandler {
    func set(_ value: Int64) {
        sum.store(Double(value))
    }

    func set(_ value: Double) {
        sum.store(value)
    }

    func decrement(by amount: Double) {
        sum.accumulate(-amount)
    }
}

extension LibrarySeries: RecorderHandler, TimerHandler {
    func record(_ value: Int64) {
        record(Double(value))
    }

    func recordNanoseconds(_ duration: Int64) {
        record(Double(duration) / 1e9)
    }
}
