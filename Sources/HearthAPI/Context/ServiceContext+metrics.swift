import DocumentModel
import DocumentStore
import PrometheusMetrics

extension ServiceContext {
    /// The interval at which the state of the store is sampled.
    private static var samplingInterval: Duration { .seconds(5) }

    /// Declares the metrics of replication.
    package func declareStandbyMetrics() {
        StandbyMetrics.declare(in: server.metrics.registry, activity: server.activity, standby: server.standby)
    }

    /// Declares the metrics of the connections to an engine.
    package func declareEngineMetrics() {
        EngineMetrics.declare(in: server.metrics.registry) { [weak databases] in databases?.engineStatus }
    }

    /// Samples the state of the store for metrics, until the task is cancelled.
    package func runMetricsSampling() async {
        repeat { await sampleMetrics() } while (try? await Task.sleep(for: Self.samplingInterval)) != nil
    }

    /// Samples the state of the store for metrics. Waits for its threads. The receiver must be the system context.
    package func sampleMetrics() async {
        let metrics = server.metrics.state
        var total = await StoreState(store)
        total.transactionCount = transactions.count
        metrics.sequence.set(Double(store.position.lastSequence.rawValue))
        metrics.indexSequence.set(total.storage?.indexedSequence.map { Double($0.rawValue) } ?? .nan)
        metrics.indexReady.set(total.isIndexReady ? 1 : 0)
        metrics.diskFreeBytes.set(total.storage?.freeBytes.map(Double.init) ?? .nan)
        metrics.diskBytes.set(total.storage?.space.map { Double($0.total) } ?? .nan)
        var databaseCount = 1
        for database in await databases?.openDatabases ?? [] {
            guard let store = database.store else { continue }
            total.add(await StoreState(store), transactionCount: database.transactions.count)
            databaseCount += 1
        }
        metrics.isWritable.set(total.isWritable ? 1 : 0)
        metrics.journalBytes.set(Double(total.journalBytes))
        metrics.documents.set(total.size.map { Double($0.documentCount) } ?? .nan)
        metrics.documentBytes.set(total.size.map { Double($0.byteCount) } ?? .nan)
        metrics.damagedDocuments.set(Double(total.damagedCount))
        metrics.waitingDocuments.set(Double(total.waitingCount))
        metrics.fileProblems.set(Double(total.fileProblemCount))
        metrics.openTransactions.set(Double(total.transactionCount))
        metrics.openDatabases.set(Double(databaseCount))
        // A folder that cannot be read keeps the time that is known.
        if let backups = try? databases?.backups, let time = try? await backups.verifications().lastSuccess?.time {
            server.metrics.backups.recordVerification(at: time)
        }
    }
}

/// The state of the store of a database, and the sums over several.
private struct StoreState {
    let storage: StorageReport?
    let isIndexReady: Bool
    private(set) var isWritable: Bool
    private(set) var journalBytes: Int
    /// The documents; `nil` while an index is being built.
    private(set) var size: CollectionSize?
    private(set) var damagedCount: Int
    private(set) var waitingCount: Int
    private(set) var fileProblemCount: Int
    var transactionCount = 0

    init(_ store: any DocumentStore) async {
        isWritable = await store.writeBlockedReason == nil
        isIndexReady = await store.indexes().queryError == nil
        storage = await (try? store.localFiles)?.storage()
        journalBytes = storage?.journalBytes ?? 0
        size = storage?.size
        damagedCount = storage?.damagedCount ?? 0
        waitingCount = storage?.unappliedCount ?? 0
        fileProblemCount = storage?.fileProblemCount ?? 0
    }

    mutating func add(_ other: StoreState, transactionCount: Int) {
        isWritable = isWritable && other.isWritable
        journalBytes += other.journalBytes
        if let otherSize = other.size { size? += otherSize } else { size = nil }
        damagedCount += other.damagedCount
        waitingCount += other.waitingCount
        fileProblemCount += other.fileProblemCount
        self.transactionCount += transactionCount
    }
}
