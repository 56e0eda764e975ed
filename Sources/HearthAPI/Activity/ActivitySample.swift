import PrometheusMetrics

/// Numbers of events: since the start of a server, or in an interval.
package struct ActivityCounts: Hashable, Sendable {
    /// Calls that read documents by their paths, or list them.
    package var reads: UInt64 = 0
    /// Documents written by commits.
    package var writes: UInt64 = 0
    /// Calls that run queries.
    package var queries: UInt64 = 0
    /// Calls that failed, other than those that their clients cancelled, and streams that failed by a fault of the server.
    package var failures: UInt64 = 0
    /// Calls that failed by an error of the server.
    package var serverErrors: UInt64 = 0
    /// Calls by their duration.
    package var latencies = LatencyCounts()

    package init() {}

    /// Returns the numbers since an earlier reading.
    func since(_ earlier: ActivityCounts) -> ActivityCounts {
        combined(with: earlier) { $0 >= $1 ? $0 - $1 : 0 }
    }

    /// Returns the sums with other numbers.
    func adding(_ other: ActivityCounts) -> ActivityCounts {
        combined(with: other) { $0 &+ $1 }
    }

    private func combined(with other: ActivityCounts, _ combine: (UInt64, UInt64) -> UInt64) -> ActivityCounts {
        var result = ActivityCounts()
        for field in Self.fields { result[keyPath: field] = combine(self[keyPath: field], other[keyPath: field]) }
        result.latencies = LatencyCounts(zip(latencies.buckets, other.latencies.buckets).map(combine))
        return result
    }

    /// The numbers without those of durations, in the order of the stored form.
    static var fields: [WritableKeyPath<ActivityCounts, UInt64>] {
        [\.reads, \.writes, \.queries, \.failures, \.serverErrors]
    }
}

/// Calls by their duration, in the buckets of the metrics.
package struct LatencyCounts: Hashable, Sendable {
    /// The calls of each bucket of `HistogramBuckets.seconds`, the last one without a bound.
    package private(set) var buckets: [UInt64]

    /// The number of buckets.
    static let bucketCount = HistogramBuckets.seconds.bounds.count + 1

    package init() {
        buckets = Array(repeating: 0, count: Self.bucketCount)
    }

    /// - Parameter buckets: As many as ``bucketCount``.
    package init(_ buckets: [UInt64]) {
        self.buckets = buckets
    }

    /// Adds the counts of a histogram, unless it has other buckets.
    mutating func add(_ counts: [UInt64]) {
        guard counts.count == buckets.count else { return }
        for (index, count) in counts.enumerated() { buckets[index] &+= count }
    }

    /// Returns a quantile of the durations in seconds, as Prometheus estimates it from buckets; `nil` without calls.
    package func quantile(_ quantile: Double) -> Double? {
        HistogramBuckets.seconds.quantile(quantile, of: buckets)
    }
}

/// The state of a server at one time. What is unknown is `nil`.
package struct ActivityGauges: Hashable, Sendable {
    /// Open watch streams.
    package var streams: Int?
    /// Targets of streams with several.
    package var targets: Int?
    /// The size of the documents.
    package var documentBytes: Int?
    /// The size of the journals.
    package var journalBytes: Int?
    /// The free space of the disk.
    package var freeBytes: Int?

    package init(streams: Int?, targets: Int?, documentBytes: Int?, journalBytes: Int?, freeBytes: Int?) {
        (self.streams, self.targets) = (streams, targets)
        (self.documentBytes, self.journalBytes, self.freeBytes) = (documentBytes, journalBytes, freeBytes)
    }

    /// The gauges in the order of the stored form.
    static var fields: [WritableKeyPath<ActivityGauges, Int?>] {
        [\.streams, \.targets, \.documentBytes, \.journalBytes, \.freeBytes]
    }
}

/// The activity of a server in an interval, and its state at the end of it.
package struct ActivitySample: Hashable, Sendable {
    /// The beginning of the interval in Unix time, a multiple of its length.
    package let start: Int64
    /// The part of the interval that was observed, in milliseconds: less than its length if the server started or stopped in it.
    package private(set) var milliseconds: Int64
    package private(set) var counts: ActivityCounts
    package private(set) var gauges: ActivityGauges

    package init(start: Int64, milliseconds: Int64, counts: ActivityCounts, gauges: ActivityGauges) {
        (self.start, self.milliseconds, self.counts, self.gauges) = (start, milliseconds, counts, gauges)
    }

    /// Returns the rate of events per second.
    package func rate(_ events: KeyPath<ActivityCounts, UInt64>) -> Double {
        milliseconds > 0 ? Double(counts[keyPath: events]) * 1_000 / Double(milliseconds) : 0
    }

    /// Returns the sample of this interval and a later one.
    package func merged(with later: ActivitySample) -> ActivitySample {
        ActivitySample(
            start: start,
            milliseconds: milliseconds + later.milliseconds,
            counts: counts.adding(later.counts),
            gauges: later.gauges
        )
    }
}
