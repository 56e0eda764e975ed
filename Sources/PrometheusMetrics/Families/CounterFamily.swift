/// Counters that are told apart by up to three labels.
///
/// A series is exported from the start if it is declared so, since the first event of a series that appears with it is missing from
/// every rate; the others once they have counted something.
package struct CounterFamily: MetricFamily {
    package let descriptor: MetricDescriptor
    package let labels: [MetricLabel]
    private let cells: [AtomicCell]
    private let series: [SeriesLabels]
    private let isInitial: [Bool]
    /// The label values of each series.
    private let values: [[String]]

    /// - Parameter isInitial: Returns whether the series with these label values is exported while it is zero.
    init(_ descriptor: MetricDescriptor, labels: [MetricLabel], isInitial: ([String]) -> Bool) {
        self.descriptor = descriptor
        self.labels = labels
        var combinations: [[String]] = [[]]
        for label in labels { combinations = combinations.flatMap { values in label.values.map { values + [$0] } } }
        values = combinations
        cells = combinations.map { _ in AtomicCell() }
        series = combinations.map { SeriesLabels(zip(labels.map(\.name), $0)) }
        self.isInitial = combinations.map(isInitial)
    }

    /// The counter of a series, by its label values.
    package subscript(_ values: String...) -> Counter {
        precondition(values.count == labels.count, "\(descriptor.name) has \(labels.count) labels.")
        return Counter(cells[zip(labels, values).reduce(0) { $0 * $1.0.values.count + $1.0.index(of: $1.1) }])
    }

    /// Adds one to the series with the label values at two indexes.
    package func increment(_ first: Int, _ second: Int) {
        cells[labels[0].bounded(first) * labels[1].values.count + labels[1].bounded(second)].add(1)
    }

    /// Adds one to the series with the label values at three indexes.
    package func increment(_ first: Int, _ second: Int, _ third: Int) {
        let row = labels[0].bounded(first) * labels[1].values.count + labels[1].bounded(second)
        cells[row * labels[2].values.count + labels[2].bounded(third)].add(1)
    }

    /// Returns the counters of the series whose label values satisfy a condition.
    func counters(where isIncluded: ([String]) -> Bool) -> [Counter] {
        zip(values, cells).filter { isIncluded($0.0) }.map { Counter($0.1) }
    }

    package func isContinued(by other: CounterFamily) -> Bool { labels == other.labels }

    package func writeSeries(to writer: inout ExpositionWriter) {
        for (index, cell) in cells.enumerated() {
            let value = cell.integer
            guard value > 0 || isInitial[index] else { continue }
            writer.sample(descriptor.name, series[index], Double(value))
        }
    }
}

/// A number of events, which only grows. Counting costs one atomic addition.
package struct Counter: Sendable {
    private let cell: AtomicCell

    init(_ cell: AtomicCell) {
        self.cell = cell
    }

    package var value: UInt64 { cell.integer }

    /// Adds to the counter; a negative amount is ignored.
    package func increment(by amount: Int = 1) {
        if amount > 0 { cell.add(UInt64(amount)) }
    }
}
