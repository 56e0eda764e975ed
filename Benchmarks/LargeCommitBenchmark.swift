import DocumentModel
import DocumentStore
import FileStore
import Synchronization

/// The latency of small commits, alone and next to clients that commit many writes at once.
struct LargeCommitBenchmark {
    let store: FileStore
    /// The documents of the large commits.
    let documents: [Document]
    /// The number of small commits per workload.
    let count: Int

    /// The number of writes of a large commit.
    static let largeCommitWrites = 20_000

    /// The state that the clients share.
    private final class Load: Sendable {
        let isDone = Atomic(false)
        /// The number of large commits.
        let commits = Atomic(0)
    }

    func run(into report: inout Report) async throws {
        let alone = try await measure("small commits alone", next: 0, { _ in [] }, maximum: nil, into: &report)
        let maximum = min(alone * 5, 100)
        for clients in [1, 3] {
            for size in [500, Self.largeCommitWrites] {
                let name = "next to \(clients) × \(size) creates"
                _ = try await measure(name, next: clients, { creates(size, $0) }, maximum: maximum, into: &report)
            }
        }
        let size = Self.largeCommitWrites
        _ = try await measure(
            "next to creates and deletes",
            next: 1,
            { createsOrDeletes(size, $0) },
            maximum: maximum,
            into: &report
        )
    }

    /// Measures small commits, one after another, while `clients` tasks make large commits; returns the 99th percentile in
    /// milliseconds.
    private func measure(
        _ name: String,
        next clients: Int,
        _ writes: @escaping @Sendable (Int) -> [Write],
        maximum: Double?,
        into report: inout Report
    ) async throws -> Double {
        let load = Load()
        var delays: [Double] = []
        let collection = try CollectionPath("small")
        var measurement = try await withThrowingTaskGroup(of: Void.self) { group in
            for client in 0..<clients {
                group.addTask { [store, load] in
                    var number = client
                    while !load.isDone.load(ordering: .relaxed) {
                        _ = try await store.commit(writes(number))
                        load.commits.add(1, ordering: .relaxed)
                        number += clients
                    }
                }
            }
            let measurement = try await Measurement.run(name, operations: count, unit: "commit") {
                let clock = ContinuousClock()
                for (index, document) in documents.prefix(count).enumerated() {
                    let start = clock.now
                    _ = try await store.commit([.set(collection.document(document.path.id), document.fields)])
                    delays.append((clock.now - start) / .milliseconds(1))
                    // Independent of the speed of the commits, as clients are.
                    if index.isMultiple(of: 10) { try await Task.sleep(for: .milliseconds(5)) }
                }
            }
            load.isDone.store(true, ordering: .relaxed)
            try await group.waitForAll()
            return measurement
        }
        delays.sort()
        let p99 = delays[delays.count * 99 / 100]
        measurement.quantities = [
            .init(name: "latency, p50", value: delays[delays.count / 2], unit: "ms"),
            .init(name: "latency, p99", value: p99, unit: "ms", maximum: maximum),
            .init(name: "latency, maximum", value: delays[delays.count - 1], unit: "ms"),
        ]
        if clients > 0 {
            let rate = Double(load.commits.load(ordering: .relaxed)) / (measurement.elapsed / .seconds(1))
            measurement.quantities.append(.init(name: "large commits", value: rate, unit: "per second"))
        }
        report.add(measurement)
        return p99
    }

    private func creates(_ size: Int, _ number: Int) -> [Write] {
        (0..<size).compactMap { index in
            let document = documents[index % documents.count]
            return try? .set(DocumentPath("large\(number % 8)/d\(index)"), document.fields)
        }
    }

    private func createsOrDeletes(_ size: Int, _ number: Int) -> [Write] {
        guard !number.isMultiple(of: 2) else { return creates(size, 0) }
        return (0..<size).compactMap { index in try? .delete(DocumentPath("large0/d\(index)")) }
    }
}
