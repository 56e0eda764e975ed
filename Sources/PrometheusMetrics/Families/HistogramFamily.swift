/// A distribution of values, counted in buckets. Recording costs a binary search and two atomic additions.
package final class Histogram: Sendable {
    private let buckets: HistogramBuckets
    /// The values of each bucket alone, not cumulative.
    private let counts: [AtomicCell]
    /// The sum in recorded units.
    private let sum = AtomicCell()

    init(_ buckets: HistogramBuckets) {
        self.buckets = buckets
        counts = (0...buckets.bounds.count).map { _ in AtomicCell() }
    }

    /// The number of recorded values.
    package var count: UInt64 { counts.reduce(0) { $0 + $1.integer } }

    /// The recorded values of each bucket alone; the last one has no bound.
    package var bucketCounts: [UInt64] { counts.map(\.integer) }

    /// Records a value in the unit of the buckets: nanoseconds for durations.
    package func record(_ value: UInt64) {
        counts[buckets.index(of: value)].add(1)
        sum.add(value)
    }

    /// Records a duration, for buckets in nanoseconds. One below zero counts as zero.
    package func record(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        record(UInt64(clamping: max(0, seconds)) &* 1_000_000_000 &+ UInt64(clamping: attoseconds / 1_000_000_000))
    }

    func hasSameBuckets(as other: Histogram) -> Bool { buckets.recordedBounds == other.buckets.recordedBounds }

    func write(_ name: String, _ labels: SeriesLabels, to writer: inout ExpositionWriter) {
        // The count is the sum of what was read: that of the last bucket must be equal to it.
        var count: UInt64 = 0
        for (index, cell) in counts.enumerated() {
            count += cell.integer
            let bound = index < buckets.bounds.count ? buckets.bounds[index] : .infinity
            writer.sample(name + "_bucket", labels.adding("le", ExpositionWriter.number(bound)), Double(count))
        }
        writer.sample(name + "_sum", labels, Double(sum.integer) / buckets.unitsPerBase)
        writer.sample(name + "_count", labels, Double(count))
    }
}

/// Histograms that are told apart by at most one label. All are exported from the start, except that of undeclared values.
package struct HistogramFamily: MetricFamily {
    package let descriptor: MetricDescriptor
    package let label: MetricLabel?
    private let histograms: [Histogram]
    private let series: [SeriesLabels]

    init(_ descriptor: MetricDescriptor, label: MetricLabel?, buckets: HistogramBuckets) {
        self.descriptor = descriptor
        self.label = label
        series = label.map { label in label.values.map { SeriesLabels([(label.name, $0)]) } } ?? [.none]
        histograms = series.map { _ in Histogram(buckets) }
    }

    /// The histograms of all label values.
    var all: [Histogram] { histograms }

    /// The histogram of a label value, by its index.
    package subscript(_ index: Int) -> Histogram { histograms[min(index, histograms.count - 1)] }

    package func isContinued(by other: HistogramFamily) -> Bool {
        label == other.label && histograms[0].hasSameBuckets(as: other.histograms[0])
    }

    package func writeSeries(to writer: inout ExpositionWriter) {
        for (index, histogram) in histograms.enumerated() {
            if let label, index == label.otherIndex, histogram.count == 0 { continue }
            histogram.write(descriptor.name, series[index], to: &writer)
        }
    }
}
