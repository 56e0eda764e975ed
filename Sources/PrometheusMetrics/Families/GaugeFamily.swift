/// A value that rises and falls, set whenever it changes. It is exported once it has been set.
package struct Gauge: MetricFamily {
    package let descriptor: MetricDescriptor
    private let cell = AtomicCell()

    init(_ descriptor: MetricDescriptor) {
        self.descriptor = descriptor
        cell.store(.nan)
    }

    /// The value; not a number before it has been set, or when it is unknown.
    package var value: Double { cell.double }

    package func set(_ value: Double) {
        cell.store(value)
    }

    package func writeSeries(to writer: inout ExpositionWriter) {
        let value = value
        if !value.isNaN { writer.sample(descriptor.name, .none, value) }
    }
}

/// Series whose values are asked for at the time of a scrape.
package struct SampledFamily: MetricFamily {
    /// The labels and the value of a series.
    package struct Sample: Sendable {
        let labels: SeriesLabels
        let value: Double

        package init(_ labels: KeyValuePairs<String, String>, _ value: Double) {
            self.labels = SeriesLabels(labels.lazy.map { ($0.key, $0.value) })
            self.value = value
        }

        package init(_ value: Double) {
            labels = .none
            self.value = value
        }
    }

    package let descriptor: MetricDescriptor
    private let read: @Sendable () -> [Sample]

    /// - Parameter read: Returns the series, with label values from a fixed set. Must return without waiting for anything.
    init(_ descriptor: MetricDescriptor, read: @escaping @Sendable () -> [Sample]) {
        self.descriptor = descriptor
        self.read = read
    }

    /// The value of the only series; `nil` if there is none, or several.
    var singleValue: Double? {
        let samples = read()
        return samples.count == 1 ? samples[0].value : nil
    }

    package func writeSeries(to writer: inout ExpositionWriter) {
        for sample in read() { writer.sample(descriptor.name, sample.labels, sample.value) }
    }
}
