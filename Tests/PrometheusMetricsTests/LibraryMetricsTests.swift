import CoreMetrics
import PrometheusMetrics
import Testing

@Suite("Metrics of libraries", .timeLimit(.minutes(10)))
struct LibraryMetricsTests {
    private let registry = MetricsRegistry()
    private let factory: PrometheusMetricsFactory

    init() {
        factory = PrometheusMetricsFactory(registry)
    }

    private var samples: [String] {
        String(decoding: registry.text(), as: UTF8.self).split(separator: "\n").map(String.init).filter { !$0.hasPrefix("#") }
    }

    @Test
    func `Names are made valid, with the suffix of their kind`() {
        Counter(label: "nio.tasks", dimensions: [("pool.name", "a\"b")], factory: factory).increment(by: 2)
        FloatingPointCounter(label: "library.cost_total", factory: factory).increment(by: 0.5)
        Meter(label: "2nd-meter", factory: factory).set(1.5)
        Gauge(label: "library.gauge", factory: factory).record(7)
        Recorder(label: "library.sizes", factory: factory).record(3)
        Timer(label: "library.time", factory: factory).recordMilliseconds(250)
        #expect(
            samples == [
                #"nio_tasks_total{pool_name="a\"b"} 2"#, "library_cost_total 0.5", "_2nd_meter 1.5", "library_gauge 7",
                "library_sizes_sum 3", "library_sizes_count 1", "library_time_seconds_sum 0.25", "library_time_seconds_count 1",
            ]
        )
    }

    @Test
    func `The same label and dimensions are one series, in any order of the dimensions`() {
        Counter(label: "a", dimensions: [("x", "1"), ("y", "2")], factory: factory).increment()
        Counter(label: "a", dimensions: [("y", "2"), ("x", "1")], factory: factory).increment()
        #expect(samples == [#"a_total{x="1",y="2"} 2"#])
    }

    @Test
    func `A library cannot take the name of a declared family, nor one of another kind`() {
        registry.sampledValue("hearth_writable", "Declared.") { 1 }
        Meter(label: "hearth.writable", factory: factory).set(0)
        Gauge(label: "library.a", factory: factory).record(1)
        Recorder(label: "library.a", factory: factory).record(1)
        #expect(samples == ["hearth_writable 1", "library_a 1"])
    }

    @Test
    func `Libraries make a limited number of series`() {
        for index in 0..<(PrometheusMetricsFactory.maximumSeries + 10) {
            Counter(label: "a", dimensions: [("id", "\(index)")], factory: factory).increment()
        }
        Counter(label: "b", factory: factory).increment()
        #expect(samples.count == PrometheusMetricsFactory.maximumSeries)
    }
}
