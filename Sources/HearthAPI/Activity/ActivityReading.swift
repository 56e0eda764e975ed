import DocumentModel
package import PrometheusMetrics

/// The metrics of a server at one time: counters since its start, and gauges.
package struct ActivityReading: Sendable {
    /// The counters.
    package var counts: ActivityCounts
    /// The gauges.
    package var gauges: ActivityGauges

    package init(counts: ActivityCounts, gauges: ActivityGauges) {
        (self.counts, self.gauges) = (counts, gauges)
    }
}

/// The families of a server from which its activity is read, looked up by their names once.
///
/// Reading them takes some thousand loads from memory, and waits for nothing.
package struct ActivityMetrics: Sendable {
    private let registry: MetricsRegistry
    private let reads: [Counter]
    private let writes: [Counter]
    private let queries: [Counter]
    private let failures: [Counter]
    private let serverErrors: [Counter]
    private let latencies: [Histogram]

    /// The APIs that count their calls.
    private static let apis = ["hearth_rpc", "hearth_grpc", "hearth_rest"]
    /// The methods that read documents by their paths, or list them.
    static let readMethods: Set = [
        "documents.get", "documents.list", "documents.batchGet", "GetDocument", "ListDocuments", "BatchGetDocuments",
    ]
    static let queryMethods: Set = [
        "query.run", "query.aggregate", "RunQuery", "RunAggregationQuery", "PartitionQuery",
    ]

    /// The methods whose calls are streams, which end whenever a client leaves or the server restarts.
    static let streamMethods: Set = ["Listen", "Write", "ServerReflectionInfo"]

    /// The statuses of streams that failed.
    private static let streamFailures = Set([StatusCode.unknown, .internal, .dataLoss].map(\.name))
    /// The statuses of calls that did not fail.
    private static let successes: Set = [CallMetrics.ok, StatusCode.cancelled.name]

    private static func isFailure(_ method: String, _ code: String) -> Bool {
        streamMethods.contains(method) ? streamFailures.contains(code) : !successes.contains(code)
    }

    /// Looks the families up. All parts of the server must have declared theirs.
    package init(_ registry: MetricsRegistry) {
        func calls(where isIncluded: (_ method: String, _ code: String) -> Bool) -> [Counter] {
            Self.apis.flatMap { api in
                registry.counters(named: "\(api)_calls_total") { isIncluded($0[0], $0[1]) }
            }
        }
        self.registry = registry
        reads = calls { method, _ in Self.readMethods.contains(method) }
        queries = calls { method, _ in Self.queryMethods.contains(method) }
        writes = registry.counters(named: "hearth_writes_total")
        failures = calls(where: Self.isFailure)
        serverErrors = calls { Self.isFailure($0, $1) && StatusCode.serverErrorNames.contains($1) }
        latencies = Self.apis.flatMap { registry.histograms(named: "\($0)_call_seconds") }
    }

    /// Reads the families.
    package func reading() -> ActivityReading {
        var counts = ActivityCounts()
        counts.reads = Self.sum(reads)
        counts.writes = Self.sum(writes)
        counts.queries = Self.sum(queries)
        // In this order: a call that fails meanwhile is never counted as the server's error alone.
        counts.serverErrors = Self.sum(serverErrors)
        counts.failures = Self.sum(failures)
        for histogram in latencies { counts.latencies.add(histogram.bucketCounts) }
        func gauge(_ name: String) -> Int? { registry.value(named: name).flatMap { Int(exactly: $0.rounded()) } }
        let gauges = ActivityGauges(
            streams: gauge("hearth_watch_streams"),
            targets: gauge("hearth_listen_targets"),
            documentBytes: gauge("hearth_document_bytes"),
            journalBytes: gauge("hearth_journal_bytes"),
            freeBytes: gauge("hearth_disk_free_bytes")
        )
        return ActivityReading(counts: counts, gauges: gauges)
    }

    private static func sum(_ counters: [Counter]) -> UInt64 { counters.reduce(0) { $0 &+ $1.value } }
}
