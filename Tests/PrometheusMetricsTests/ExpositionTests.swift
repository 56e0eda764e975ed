import PrometheusMetrics
import Testing

@Suite("Text formats of metrics", .timeLimit(.minutes(10)))
struct ExpositionTests {
    private let registry = MetricsRegistry()

    private func lines(_ format: ExpositionFormat = .text) -> [String] {
        String(decoding: registry.text(format), as: UTF8.self).split(separator: "\n").map(String.init)
    }

    @Test
    func `A counter is exported from the start, with its help and type`() {
        let commits = registry.counter("test_commits_total", "Commits.")
        #expect(lines() == ["# HELP test_commits_total Commits.", "# TYPE test_commits_total counter", "test_commits_total 0"])
        commits.increment()
        commits.increment(by: 2)
        commits.increment(by: -7)
        #expect(lines().last == "test_commits_total 3")
    }

    @Test
    func `Series that are not initial appear once they have counted something, and all lines of a family are together`() {
        let calls = registry.counters(
            "test_calls_total",
            "Calls.",
            [MetricLabel("method", ["get", "set"]), MetricLabel("code", ["OK", "INTERNAL"])]
        ) { $0 == ["get", "OK"] }
        _ = registry.counter("test_total", "Other.")
        #expect(lines().filter { $0.hasPrefix("test_calls") } == [#"test_calls_total{method="get",code="OK"} 0"#])
        calls.increment(1, 1)
        #expect(
            Array(lines().prefix(4)) == [
                "# HELP test_calls_total Calls.", "# TYPE test_calls_total counter",
                #"test_calls_total{method="get",code="OK"} 0"#, #"test_calls_total{method="set",code="INTERNAL"} 1"#,
            ]
        )
    }

    @Test
    func `A value that is not declared is counted as other`() {
        let calls = registry.counters("test_calls_total", "Calls.", [MetricLabel("method", ["get"])])
        calls["attacker-1"].increment()
        calls["attacker-2"].increment()
        let pairs = registry.counters("test_pairs_total", "Pairs.", [MetricLabel("a", ["x"]), MetricLabel("b", ["y"])])
        pairs.increment(.max, 0)
        pairs.increment(0, 77)
        #expect(lines().contains(#"test_calls_total{method="other"} 2"#))
        #expect(lines().contains(#"test_pairs_total{a="other",b="y"} 1"#))
        #expect(lines().contains(#"test_pairs_total{a="x",b="other"} 1"#))
        #expect(!lines().contains { $0.contains("attacker") })
    }

    @Test
    func `A histogram is cumulative, and its last bucket is its count`() {
        let seconds = registry.histogram("test_seconds", "Times.", HistogramBuckets([0.001, 0.5, 2], unitsPerBase: 1e9))
        seconds.record(1_000_000)
        seconds.record(1_000_001)
        seconds.record(Duration.seconds(3))
        seconds.record(Duration.seconds(-1))
        #expect(
            lines() == [
                "# HELP test_seconds Times.", "# TYPE test_seconds histogram", #"test_seconds_bucket{le="0.001"} 2"#,
                #"test_seconds_bucket{le="0.5"} 3"#, #"test_seconds_bucket{le="2"} 3"#, #"test_seconds_bucket{le="+Inf"} 4"#,
                "test_seconds_sum 3.002000001", "test_seconds_count 4",
            ]
        )
    }

    @Test(arguments: [(0, 0), (1, 0), (2, 1), (3, 2), (500, 8), (501, 9)])
    func `A value is in the bucket with the lowest bound that is not below it`(value: Int, bucket: Int) {
        let sizes = registry.histogram("test_sizes", "Sizes.", .batchSizes)
        sizes.record(UInt64(value))
        let counts = lines().filter { $0.contains("_bucket") }.map { $0.hasSuffix(" 1") }
        #expect(counts.firstIndex(of: true) == bucket)
    }

    @Test
    func `A gauge is exported while it is known, and asked for at the time of a scrape`() {
        let gauge = registry.gauge("test_gauge", "A gauge.")
        registry.sampledValue("test_absent", "Nothing.") { nil }
        registry.sampledValue("test_sampled", "A value.") { 0.25 }
        #expect(lines().filter { !$0.hasPrefix("#") } == ["test_sampled 0.25"])
        gauge.set(1e21)
        #expect(lines().contains("test_gauge 1e+21"))
        gauge.set(.infinity)
        #expect(lines().contains("test_gauge +Inf"))
        gauge.set(.nan)
        #expect(!lines().contains { $0.hasPrefix("test_gauge") })
    }

    @Test
    func `Quotation marks, backslashes and line feeds are escaped`() {
        registry.sampled("test_info", "A \"help\"\nof \\ lines.") { [.init(["text": "a\"b\\c\nd"], 1)] }
        #expect(
            lines() == [
                #"# HELP test_info A "help"\nof \\ lines."#, "# TYPE test_info gauge", #"test_info{text="a\"b\\c\nd"} 1"#,
            ]
        )
        #expect(lines(.openMetrics).first == #"# HELP test_info A \"help\"\nof \\ lines."#)
    }

    @Test
    func `OpenMetrics declares counters without their suffix, and ends with a mark`() {
        _ = registry.counter("test_commits_total", "Commits.")
        #expect(
            lines(.openMetrics) == [
                "# HELP test_commits Commits.", "# TYPE test_commits counter", "test_commits_total 0", "# EOF",
            ]
        )
    }

    @Test
    func `Counters and histograms that are declared again go on, unless their labels differ`() {
        registry.counters("test_total", "Events.", [MetricLabel("a", ["x"])])["x"].increment()
        registry.histogram("test_sizes", "Sizes.", .batchSizes).record(1)
        let again = registry.counters("test_total", "Events.", [MetricLabel("a", ["x"])])
        #expect(again["x"].value == 1)
        #expect(registry.histogram("test_sizes", "Sizes.", .batchSizes).count == 1)
        #expect(registry.counters("test_total", "Events.", [MetricLabel("a", ["x", "y"])])["x"].value == 0)
        #expect(registry.histogram("test_sizes", "Sizes.", .seconds).count == 0)
    }

    @Test
    func `The value that is declared last under a name replaces the others, in their place`() {
        registry.sampledValue("test_a", "First.") { 1 }
        registry.sampledValue("test_b", "Other.") { 2 }
        registry.sampledValue("test_a", "Second.") { 3 }
        #expect(registry.descriptors.map(\.help) == ["Second.", "Other."])
    }

    @Test
    func `Counts of many threads are complete`() async {
        let counter = registry.counter("test_total", "Events.")
        let histogram = registry.histogram("test_seconds", "Times.")
        await withTaskGroup { group in
            for _ in 0..<8 {
                group.addTask {
                    for value in 0..<10_000 {
                        counter.increment()
                        histogram.record(UInt64(value) * 1_000)
                    }
                }
            }
        }
        #expect(counter.value == 80_000)
        #expect(histogram.count == 80_000)
    }
}
