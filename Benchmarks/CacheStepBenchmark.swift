import ArgumentParser
import DocumentModel
import SyncEngine

/// The steps in which a client's cache is scanned. Other calls wait for one of them at most.
struct CacheStepBenchmark {
    let documentCount: Int

    private static let stepCount = 1_000
    private static let limit = 50

    func run<Cache: LocalCache>(_ name: String, _ cache: Cache, _ report: inout Report) async throws {
        var settings = SyncEngine<Cache>.Settings()
        settings.maximumRefillCount = Self.stepCount
        var engine = SyncEngine(cache: cache, settings: settings)
        _ = try engine.start()
        try await measureRefill(name, &engine, &report)
        try await measureResult(name, &engine, &report)
    }

    /// Measures how a page that has lost a document gets another one.
    private func measureRefill<Cache>(
        _ name: String,
        _ engine: inout SyncEngine<Cache>,
        _ report: inout Report
    ) async throws {
        let order = StructuredQuery.Order(.field(try FieldPath("isbn")))
        let page = try query(orders: [order], limit: .first(Self.limit))
        _ = try engine.listen(1, to: page, options: ListenOptions(isCacheOnly: true))
        var steps = Steps()
        var measurement = try await Measurement.run("\(name): refill a page", operations: documentCount, unit: "document") {
            let path = try CacheBenchmark.path(0)
            _ = try steps.measure { try engine.write([.delete(path)], nil, at: .minimum) }
            while engine.needsRefills { _ = steps.measure { engine.continueRefills() } }
        }
        steps.add(to: &measurement)
        report.add(measurement)
    }

    /// Measures the result of a query that has all documents.
    private func measureResult<Cache>(
        _ name: String,
        _ engine: inout SyncEngine<Cache>,
        _ report: inout Report
    ) async throws {
        let all = try query()
        var steps = Steps()
        var measurement = try await Measurement.run("\(name): all documents", operations: documentCount, unit: "document") {
            var scan: ScanID?
            var result: CachedResult?
            while result == nil {
                switch try steps.measure({ try engine.result(of: all, continuing: scan, maximumCount: Self.stepCount) }) {
                case .complete(let complete): result = complete
                case .incomplete(let begun): scan = begun
                }
            }
            // Sorting is no part of a step.
            guard let result, result.snapshot.documents.count >= documentCount - 1 else {
                throw ValidationError("Expected all documents.")
            }
        }
        steps.add(to: &measurement)
        report.add(measurement)
    }

    private func query(orders: [StructuredQuery.Order] = [], limit: StructuredQuery.Limit? = nil) throws -> ViewQuery {
        let source = StructuredQuery.Source.collection(try CollectionPath("documents"))
        return try ViewQuery(StructuredQuery(source, orders: orders, limit: limit))
    }

    /// The durations of steps.
    private struct Steps {
        private var durations: [Duration] = []

        mutating func measure<Result>(_ step: () throws -> Result) rethrows -> Result {
            let start = ContinuousClock.now
            defer { durations.append(start.duration(to: .now)) }
            return try step()
        }

        func add(to measurement: inout Measurement) {
            let milliseconds = durations.map { $0 / .milliseconds(1) }.sorted()
            measurement.quantities += [
                Measurement.Quantity(name: "steps", value: Double(milliseconds.count), unit: "", maximum: nil),
                Measurement.Quantity(name: "median step", value: milliseconds.percentile(50), unit: "ms", maximum: nil),
                Measurement.Quantity(name: "longest step", value: milliseconds.percentile(100), unit: "ms", maximum: nil),
            ]
        }
    }
}
