package import DocumentModel
package import DocumentStore
import PrometheusMetrics

/// The metrics of commits, of all databases of a server.
package struct StoreMetrics: StoreObserver {
    private let commits: Counter
    private let writes: Counter
    private let aborts: [AbortReason: Counter]
    private let quotaRefusals: Counter
    private let commitSeconds: Histogram
    private let batchSize: Histogram
    private let syncSeconds: Histogram
    /// The queues of the store.
    package let queues: QueueMetrics

    /// The reasons for which commits fail.
    private enum AbortReason: String, CaseIterable {
        /// Another commit changed a document that the commit had read.
        case contention
        /// A precondition was not met.
        case precondition
        /// The store does not accept the writes: the disk is full, or writes are blocked.
        case unavailable
        case other

        init(_ code: StatusCode) {
            switch code {
            case .aborted: self = .contention
            case .failedPrecondition, .notFound, .alreadyExists: self = .precondition
            case .resourceExhausted, .unavailable: self = .unavailable
            default: self = .other
            }
        }
    }

    init(_ registry: MetricsRegistry) {
        commits = registry.counter("hearth_commits_total", "Commits made durable.")
        writes = registry.counter("hearth_writes_total", "Writes of commits made durable.")
        let aborts = registry.counters(
            "hearth_commit_aborts_total",
            "Commits that failed and changed nothing, by reason.",
            [MetricLabel("reason", AbortReason.allCases.map(\.rawValue))],
            isInitial: { _ in true }
        )
        self.aborts = Dictionary(uniqueKeysWithValues: AbortReason.allCases.map { ($0, aborts[$0.rawValue]) })
        quotaRefusals = registry.counter(
            "hearth_quota_refusals_total",
            "Commits that failed because they exceed the quota of their database."
        )
        commitSeconds = registry.histogram(
            "hearth_commit_seconds",
            "Times from the submission of a commit to the store until it was durable and visible."
        )
        batchSize = registry.histogram("hearth_commit_batch_size", "Commits that shared a sync.", .batchSizes)
        syncSeconds = registry.histogram("hearth_journal_sync_seconds", "Durations of syncs of the journal to the disk.")
        queues = QueueMetrics(registry)
    }

    package func didCommit(writeCount: Int, period: Range<ContinuousClock.Instant>, sync: Range<ContinuousClock.Instant>?) {
        commits.increment()
        writes.increment(by: writeCount)
        commitSeconds.record(period.upperBound - period.lowerBound)
        RequestTrace.current?.recordCommit(writeCount: writeCount, period: period, sync: sync)
    }

    package func didFailCommit(with error: StatusError, writeCount: Int, period: Range<ContinuousClock.Instant>) {
        aborts[AbortReason(error.code)]?.increment()
        if error.cause is DatabaseQuota.Exceeded { quotaRefusals.increment() }
        RequestTrace.current?.recordCommit(writeCount: writeCount, period: period, sync: nil, error: error)
    }

    package func didSync(commitCount: Int, duration: Duration) {
        batchSize.record(UInt64(commitCount))
        syncSeconds.record(duration)
    }

    package func didWait(in queue: StoreQueue, nanoseconds: UInt64) {
        queues.record(queue, nanoseconds: nanoseconds)
    }
}
