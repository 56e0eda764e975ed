import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import UTF8Text

/// Vector searches in the index, compared with reading all documents.
struct VectorBenchmark {
    let documents: Int
    let dimensions: Int
    /// The number of searches of each kind.
    let rounds: Int
    let seed: UInt64

    private static let collection = "vectors"
    private static let limit = 10

    func run(in data: String, into report: inout Report) async throws {
        var random = SplitMix64(state: seed)
        var store = try await FileStore.open(FileStoreConfiguration(folder: data), logger: .benchmark)
        try await fill(store, &random)
        let query = vector(&random)
        try await measure(query, store, into: &report)
        let nearest = try NormalizedQuery(search(query, .cosine))
        let expected = try await store.run(nearest, maximumBytes: 64 << 20, readTime: nil)
        await store.close()
        try FileManager.default.removeItem(atPath: data + "/index.sqlite")
        report.add(
            try await Measurement.run("rebuild the index with vectors", operations: documents, unit: "document") {
                store = try await FileStore.open(FileStoreConfiguration(folder: data), logger: .benchmark)
                try await store.waitUntilIndexed()
            }
        )
        let found = try await store.run(nearest, maximumBytes: 64 << 20, readTime: nil)
        guard found.documents == expected.documents else { throw ValidationError("The results differ after the rebuild.") }
        await store.close()
    }

    private func measure(_ query: [Double], _ store: FileStore, into report: inout Report) async throws {
        let context = ServiceContext(store: store)
        let tenth = QueryFilter.field(try FieldPath("tenth"), .equal(.integer(3)))
        let hundredth = QueryFilter.field(try FieldPath("hundredth"), .equal(.integer(3)))
        for measure in VectorSearch.Measure.allCases {
            try await self.measure(search(query, measure), "\(measure.rawValue)", context, into: &report)
        }
        try await measure(search(query, .cosine, where: tenth), "cosine, equality matching 10%", context, into: &report)
        try await measure(search(query, .cosine, where: hundredth), "cosine, equality matching 1%", context, into: &report)
    }

    /// Writes the documents, with vectors that single precision cannot represent.
    private func fill(_ store: FileStore, _ random: inout SplitMix64) async throws {
        let collection = try CollectionPath(Self.collection)
        let clock = ContinuousClock()
        let start = clock.now
        for start in stride(from: 0, to: documents, by: 200) {
            var writes: [Write] = []
            for index in start..<min(start + 200, documents) {
                let fields: MapValue = [
                    "embedding": .vector(vector(&random)), "tenth": .integer(Int64(index % 10)),
                    "hundredth": .integer(Int64(index % 100)),
                ]
                writes.append(.create(collection.document(try DocumentPath.ID("d\(index)")), fields))
            }
            _ = try await store.commit(writes)
        }
        try await store.waitUntilIndexed()
        print("    Wrote and indexed \(documents) documents in \(clock.now - start)")
    }

    private func vector(_ random: inout SplitMix64) -> [Double] {
        (0..<dimensions).map { _ in Double.random(in: -1...1, using: &random) }
    }

    private func search(
        _ vector: [Double],
        _ measure: VectorSearch.Measure,
        where filter: QueryFilter? = nil
    ) throws -> StructuredQuery {
        var query = StructuredQuery(.collection(try CollectionPath(Self.collection)), where: filter)
        query.vectorSearch = VectorSearch(
            field: try FieldPath("embedding"),
            vector: vector,
            measure: measure,
            limit: Self.limit,
            distanceField: try FieldPath("distance")
        )
        return query
    }

    /// Measures a search. The baseline has a cursor before the first document, which requires reading the documents.
    private func measure(
        _ query: StructuredQuery,
        _ name: String,
        _ context: ServiceContext,
        into report: inout Report
    ) async throws {
        let indexed = try NormalizedQuery(query)
        var query = query
        query.orders = [StructuredQuery.Order(.field(.documentName))]
        query.start = StructuredQuery.Cursor([.string("a")], isInclusive: true)
        let read = try NormalizedQuery(query)
        let first = try await RunQuery.call(.init(indexed), in: context)
        let baseline = "vector search (\(name)), reading documents"
        var expected = first
        report.add(
            try await Measurement.run(baseline, operations: documents, unit: "vector") {
                expected = try await RunQuery.call(.init(read), in: context)
            }
        )
        guard first.documents == expected.documents, first.documents.count == Self.limit else {
            throw ValidationError("The results differ: \(first.documents), \(expected.documents)")
        }
        var times: [Duration] = []
        let clock = ContinuousClock()
        var measurement = try await Measurement.run(
            "vector search (\(name))",
            operations: rounds * documents,
            unit: "vector",
            target: Measurement.Target(baseline: baseline, ratio: 10)
        ) {
            for _ in 0..<rounds {
                let start = clock.now
                _ = try await RunQuery.call(.init(indexed), in: context)
                times.append(clock.now - start)
            }
        }
        times.sort()
        measurement.quantities = [
            .init(name: "minimum time per search", value: times[0] / .milliseconds(1), unit: "ms"),
            .init(name: "median time per search", value: times[times.count / 2] / .milliseconds(1), unit: "ms"),
            .init(
                name: "CPU time per search",
                value: measurement.processorTime / .milliseconds(1) / Double(rounds),
                unit: "ms"
            ),
            .init(name: "documents read", value: Double(first.metrics.documentsRead), unit: "documents"),
            .init(name: "memory of store and benchmark", value: try HearthBench.residentMebibytes(), unit: "MiB", maximum: 600),
        ]
        report.add(measurement)
        print("    \(first.metrics.plan.joined(separator: ". "))")
    }
}

/// A seeded generator of random numbers (SplitMix64).
private struct SplitMix64: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
