import DocumentModel
import Testing

@testable import HearthAPI

@Suite("Activity history", .timeLimit(.minutes(10)))
struct ActivityHistoryTests {
    /// 2026-01-02T05:00:00Z, the beginning of a slot of each span.
    private static let start: Int64 = 1_767_330_000

    private static func time(_ seconds: Double) throws -> Timestamp {
        try Timestamp(microseconds: start * 1_000_000 + Int64(seconds * 1e6))
    }

    private static func reading(reads: UInt64, streams: Int? = nil, latencies: [UInt64]? = nil) -> ActivityReading {
        var counts = ActivityCounts()
        counts.reads = reads
        if let latencies { counts.latencies = LatencyCounts(latencies) }
        let gauges = ActivityGauges(streams: streams, targets: nil, documentBytes: 10, journalBytes: nil, freeBytes: nil)
        return ActivityReading(counts: counts, gauges: gauges)
    }

    /// Records readings at seconds after the start.
    private static func history(_ readings: [(seconds: Double, reads: UInt64)]) throws -> ActivityHistory {
        let history = ActivityHistory()
        let clock = ContinuousClock.now
        for (seconds, reads) in readings {
            history.record(reading(reads: reads, streams: Int(reads)), at: try time(seconds), clock: clock + .seconds(seconds))
        }
        return history
    }

    @Test
    func `A sample has what happened between two readings, in the slot of that time`() throws {
        let history = try Self.history([(0.01, 100), (10.02, 150), (20.01, 150), (27, 157), (30, 160)])
        let samples = history.samples(.hour, until: try Self.time(30))
        #expect(samples.count == 360)
        let last = samples.suffix(4).map { $0 }
        #expect(last.map { $0?.start } == [Self.start, Self.start + 10, Self.start + 20, nil])
        #expect(last.map { $0?.counts.reads } == [50, 0, 10, nil])
        #expect(last[0].map { $0.rate(\.reads).rounded() } == 5)
        #expect((9_989...9_990).contains(last[2]?.milliseconds ?? 0))
        #expect(last.map { $0?.gauges.streams } == [150, 150, 160, nil])
        #expect(samples.compactMap(\.self).count == 3)
        #expect(history.samples(.day, until: try Self.time(30)).last??.counts.reads == 60)
        #expect(history.samples(.week, until: try Self.time(30)).last??.counts.reads == 60)
    }

    @Test
    func `A time in which the process did not run is a gap`() throws {
        let history = try Self.history([(0, 0), (10, 10), (3_000, 5_000), (3_010, 5_020)])
        let samples = history.samples(.hour, until: try Self.time(3_010)).compactMap(\.self)
        #expect(samples.map(\.start) == [Self.start, Self.start + 3_000])
        #expect(samples.map(\.counts.reads) == [10, 20])
    }

    @Test
    func `Samples older than the span are not shown, and their places are used again`() throws {
        let history = try Self.history([(0, 0), (10, 10), (20, 20)])
        #expect(history.samples(.hour, until: try Self.time(3_599)).compactMap(\.self).count == 2)
        #expect(history.samples(.hour, until: try Self.time(3_605)).compactMap(\.self).count == 1)
        #expect(history.samples(.hour, until: try Self.time(7_200)).compactMap(\.self).isEmpty)
        // The clock was wrong.
        #expect(history.samples(.hour, until: .minimum).compactMap(\.self).isEmpty)
    }

    @Test
    func `A stored history is taken over by the next process`() throws {
        let earlier = try Self.history([(0, 0), (10, 10), (15, 15)])
        let later = try Self.history([(17, 0), (20, 6), (30, 7)])
        let bytes = earlier.encoded()
        #expect(bytes.count == ActivityHistory.encodedBytes)
        try later.restore(bytes)
        let samples = later.samples(.hour, until: try Self.time(30)).compactMap(\.self)
        #expect(samples.map(\.counts.reads) == [10, 11, 1])
        #expect(samples.map(\.milliseconds) == [10_000, 8_000, 10_000])
        #expect(samples[1].gauges.streams == 6)
        #expect(later.samples(.week, until: try Self.time(30)).last??.counts.reads == 22)
        let again = ActivityHistory()
        try again.restore(later.encoded())
        #expect(again.encoded() == later.encoded())
        for span in ActivityHistory.Span.allCases {
            #expect(again.samples(span, until: try Self.time(40)) == later.samples(span, until: try Self.time(40)))
        }
    }

    @Test
    func `A damaged history is refused as a whole`() throws {
        let bytes = try Self.history([(0, 0), (10, 10)]).encoded()
        var damaged: [[UInt8]] = [[], Array(bytes.dropLast()), bytes + [0], Array(repeating: 0, count: bytes.count)]
        for position in stride(from: 0, to: bytes.count, by: 997) {
            var copy = bytes
            copy[position] ^= 0x40
            damaged.append(copy)
        }
        let history = ActivityHistory()
        for bytes in damaged { #expect(throws: StatusError.self) { try history.restore(bytes) } }
        #expect(ActivityHistory.Span.allCases.allSatisfy { history.allSamples($0).isEmpty })
    }

    @Test
    func `Large numbers and unknown gauges are stored`() throws {
        let history = ActivityHistory()
        let now = ContinuousClock.now
        history.record(Self.reading(reads: 0), at: try Self.time(0), clock: now)
        history.record(Self.reading(reads: .max), at: try Self.time(10), clock: now + .seconds(10))
        let other = ActivityHistory()
        try other.restore(history.encoded())
        let sample = try #require(other.allSamples(.hour).first)
        #expect(sample.counts.reads == UInt64(UInt32.max))
        #expect(sample.gauges.streams == nil)
        #expect(sample.gauges.documentBytes == 10)
    }

    @Test
    func `Percentiles of an interval are those of its calls`() throws {
        let history = ActivityHistory()
        let now = ContinuousClock.now
        var buckets = Array(repeating: UInt64(0), count: LatencyCounts.bucketCount)
        buckets[12] = 1_000
        history.record(Self.reading(reads: 0, latencies: buckets), at: try Self.time(0), clock: now)
        buckets[1] = 50
        history.record(Self.reading(reads: 0, latencies: buckets), at: try Self.time(10), clock: now + .seconds(10))
        history.record(Self.reading(reads: 0, latencies: buckets), at: try Self.time(20), clock: now + .seconds(20))
        let samples = history.samples(.hour, until: try Self.time(20)).compactMap(\.self)
        #expect(samples[0].counts.latencies.quantile(0.5) == 0.00075)
        #expect(samples[1].counts.latencies.quantile(0.5) == nil)
    }
}
