import PrometheusMetrics
import Testing

@Suite("Reading of metrics", .timeLimit(.minutes(10)))
struct ReadingTests {
    private let registry = MetricsRegistry()

    @Test
    func `The counters of a family are selected by their label values`() {
        let calls = registry.counters(
            "test_calls_total",
            "Calls.",
            [MetricLabel("method", ["get", "set"]), MetricLabel("code", ["OK", "INTERNAL"])]
        )
        let failures = registry.counters(named: "test_calls_total") { $0[1] != "OK" }
        #expect(failures.count == 6)
        calls["get", "OK"].increment()
        calls["set", "INTERNAL"].increment(by: 2)
        calls["attacker", "INTERNAL"].increment()
        #expect(failures.map(\.value).reduce(0, +) == 3)
        #expect(registry.counters(named: "test_calls_total") { $0 == ["get", "OK"] }.map(\.value) == [1])
        #expect(registry.counters(named: "unknown_total").isEmpty)
    }

    @Test
    func `The value of a gauge is unknown before it is set`() {
        let gauge = registry.gauge("test_bytes", "Bytes.")
        registry.sampledValue("test_streams", "Streams.") { 7 }
        registry.sampled("test_held_bytes", "Bytes.") { [.init(["kind": "a"], 1), .init(["kind": "b"], 2)] }
        #expect(registry.value(named: "test_bytes") == nil)
        gauge.set(3)
        #expect(registry.value(named: "test_bytes") == 3)
        #expect(registry.value(named: "test_streams") == 7)
        #expect(registry.value(named: "test_held_bytes") == nil)
        #expect(registry.value(named: "unknown") == nil)
    }

    @Test
    func `The histograms of a family are read by bucket`() {
        let family = registry.histograms("test_seconds", "Times.", MetricLabel("method", ["get", "set"]))
        family[0].record(Duration.milliseconds(3))
        family[1].record(Duration.seconds(60))
        let histograms = registry.histograms(named: "test_seconds")
        #expect(histograms.count == 3)
        #expect(histograms[0].bucketCounts == [0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0])
        #expect(histograms[1].bucketCounts.last == 1)
    }

    @Test(
        arguments: [
            (0.5, [0, 0, 0], nil), (0.5, [4, 0, 0], 0.5), (0.5, [1, 2, 1], 2), (0.99, [0, 0, 3], 3), (1, [0, 4, 0], 3),
            (0.25, [0, 4, 0], 1.5),
        ] as [(Double, [UInt64], Double?)]
    )
    func `A quantile is interpolated in its bucket, and at most the greatest bound`(
        quantile: Double,
        counts: [UInt64],
        expected: Double?
    ) {
        #expect(HistogramBuckets([1, 3]).quantile(quantile, of: counts) == expected)
    }
}
