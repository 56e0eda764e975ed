import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import Logging
import UTF8Text

/// Queries, compared with reading the same documents by path; counts, compared with SQLite's `count(*)`; and sums and offsets,
/// compared with reading the documents. With `--vectors`, vector searches, compared with reading the documents.
struct QueryBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "query",
        abstract: "Queries on a small and a large collection, compared with batchGet of the same documents and SQLite's count(*)."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents in the large collection.")
    var documents = 100_000

    @Option(help: "Number of runs per query.")
    var rounds = 200

    @Option(help: "Number of documents with vectors. If this is not 0, only vector searches are measured.")
    var vectors = 0

    @Option(help: "Number of dimensions of the vectors.")
    var dimensions = 768

    func validate() throws {
        guard vectors == 0 || vectors >= 100, (1...DocumentLimits.maximumVectorDimensions).contains(dimensions) else {
            throw ValidationError("Requires at least 100 vectors of 1 to \(DocumentLimits.maximumVectorDimensions) dimensions.")
        }
        guard documents >= 1_000, rounds >= 1 else { throw ValidationError("Requires at least 1,000 documents and 1 round.") }
    }

    func run() async throws {
        var report = Report()
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                let data = folder + "/data"
                guard vectors == 0 else {
                    return try await VectorBenchmark(
                        documents: vectors,
                        dimensions: dimensions,
                        rounds: rounds,
                        seed: options.seed
                    )
                    .run(in: data, into: &report)
                }
                let store = try await FileStore.open(FileStoreConfiguration(folder: data), logger: .benchmark)
                try await fill(store, "small", 1_000)
                try await fill(store, "large", documents)
                try await store.waitUntilIndexed()
                let context = ServiceContext(store: store)
                for workload in Workload.allCases { try await measure(workload, context, into: &report) }
                try await measureCounts(data, context, into: &report)
                try await measureSums(context, into: &report)
                try await measureOffsets(context, into: &report)
                try await defineIndex(store)
                try await measure(.tenth, named: "with composite index: ", context, into: &report)
                await store.close()
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    /// A query for 100 documents.
    private enum Workload: String, CaseIterable {
        case tenth = "sorted, equality matching 10%"
        case half = "sorted, equality matching 50%"
        case rare = "sorted, equality matching 200 documents"
        case ordered = "sorted"
        case equal = "equality"
        case range = "range"
    }

    private func query(_ workload: Workload, _ collection: String) throws -> NormalizedQuery {
        var query = StructuredQuery(.collection(try CollectionPath(collection)), limit: .first(100))
        let shelf = QueryFilter.field(try FieldPath("shelf"), .equal(.integer(7)))
        let order = [StructuredQuery.Order(.field(try FieldPath("isbn")))]
        switch workload {
        case .tenth: (query.filter, query.orders) = (shelf, order)
        case .half: (query.filter, query.orders) = (.field(try FieldPath("available"), .equal(.boolean(true))), order)
        case .rare: (query.filter, query.orders) = (.field(try FieldPath("rare"), .equal(.boolean(true))), order)
        case .ordered: query.orders = order
        case .equal: query.filter = shelf
        case .range: query.filter = .field(try FieldPath("isbn"), .greater(.integer(5_000_000_000_000)))
        }
        return try NormalizedQuery(query)
    }

    private func fill(_ store: FileStore, _ name: String, _ count: Int) async throws {
        var generator = DocumentGenerator(seed: options.seed)
        let collection = try CollectionPath(name)
        for start in stride(from: 0, to: count, by: 500) {
            var writes: [Write] = []
            for index in start..<min(start + 500, count) {
                var fields = generator.next()
                fields["shelf"] = .integer(Int64(index % 10))
                fields["all"] = .boolean(true)
                fields["rare"] = .boolean(index.isMultiple(of: max(1, count / 200)))
                writes.append(.create(collection.document(try DocumentPath.ID("d\(index)")), fields))
            }
            _ = try await store.commit(writes)
        }
    }

    /// Creates a composite index on the fields of ``Workload/tenth`` and waits until queries use it.
    private func defineIndex(_ store: FileStore) async throws {
        for collection in ["small", "large"] {
            let definition = try IndexDefinition(
                collection: CollectionID(collection),
                fields: [
                    .init(FieldPath("shelf")), .init(FieldPath("isbn")),
                ]
            )
            _ = try await store.changeIndexes(.create(definition))
        }
        while await store.indexes().indexes.contains(where: { $0.buildState != .ready }) {
            try await Task.sleep(for: .milliseconds(20))
        }
    }

    private func measure(
        _ workload: Workload,
        named prefix: String = "",
        _ context: ServiceContext,
        into report: inout Report
    ) async throws {
        for collection in ["small", "large"] {
            let query = try query(workload, collection)
            let first = try await RunQuery.call(.init(query), in: context)
            let paths = first.documents.map(\.path)
            let baseline = "\(prefix)batchGet of the same documents (\(workload.rawValue), \(collection))"
            report.add(
                try await Measurement.run(baseline, operations: rounds * paths.count, unit: "document") {
                    for _ in 0..<rounds { _ = try await BatchGetDocuments.call(.init(paths: paths), in: context) }
                }
            )
            var measurement = try await Measurement.run(
                "\(prefix)\(workload.rawValue), \(collection)",
                operations: rounds * paths.count,
                unit: "document",
                target: Measurement.Target(baseline: baseline, ratio: 0.5)
            ) {
                for _ in 0..<rounds { _ = try await RunQuery.call(.init(query), in: context) }
            }
            measurement.quantities = [
                .init(name: "time per query", value: measurement.elapsed / .milliseconds(1) / Double(rounds), unit: "ms"),
                .init(name: "scanned index entries", value: Double(first.metrics.entriesScanned), unit: "entries"),
                .init(
                    name: "memory of store and benchmark",
                    value: try HearthBench.residentMebibytes(),
                    unit: "MiB",
                    maximum: 600
                ),
            ]
            report.add(measurement)
            print("    \(first.metrics.plan.joined(separator: ". "))")
        }
    }

    private func measureCounts(_ data: String, _ context: ServiceContext, into report: inout Report) async throws {
        let count = try NormalizedAggregations([Aggregation(.count(upTo: nil))])
        let filter = QueryFilter.field(try FieldPath("all"), .equal(.boolean(true)))
        let query = try NormalizedQuery(StructuredQuery(.collection(try CollectionPath("large")), where: filter))
        let rounds = 50
        let baseline = "SQLite's count(*)"
        // A single process for all rounds, since starting it takes longer than a count.
        let sql = """
            SELECT count(*) FROM entries WHERE space = (SELECT (s.id << 28) | (f.id << 1) FROM scopes s, fields f \
            WHERE s.name = CAST('large' AS BLOB) AND f.name = CAST('all' AS BLOB)) AND value = x'2001';
            """
        let script = data + "/../count.sql"
        try String(repeating: sql + "\n", count: rounds).write(toFile: script, atomically: true, encoding: .utf8)
        report.add(
            try await Measurement.run(baseline, operations: rounds * documents, unit: "row") {
                let program = try SpawnedProcess("/bin/sh", ["-c", "sqlite3 -readonly '\(data)/index.sqlite' <'\(script)'"])
                program.wait()
            }
        )
        report.add(
            try await Measurement.run(
                "query.aggregate, count",
                operations: rounds * documents,
                unit: "row",
                target: Measurement.Target(baseline: baseline, ratio: 1 / 1.5)
            ) {
                for _ in 0..<rounds { _ = try await RunAggregationQuery.call(.init(count, of: query), in: context) }
            }
        )
    }

    /// Measures sums in the index. The baseline has a cursor before the first document, which requires reading the documents.
    private func measureSums(_ context: ServiceContext, into report: inout Report) async throws {
        let isbn = try FieldPath("isbn")
        let sum = try NormalizedAggregations([Aggregation(.count(upTo: nil), alias: "n"), Aggregation(.sum(isbn), alias: "sum")])
        let shelf = QueryFilter.field(try FieldPath("shelf"), .equal(.integer(7)))
        let all = QueryFilter.field(try FieldPath("all"), .equal(.boolean(true)))
        for (name, filter) in [("all", nil), ("an equality that all match", all), ("an equality that 10% match", shelf)] {
            var query = StructuredQuery(.collection(try CollectionPath("large")), where: filter)
            let indexed = try NormalizedQuery(query, aggregating: sum.fields)
            query.orders = [StructuredQuery.Order(.field(isbn))]
            query.start = StructuredQuery.Cursor([.null], isInclusive: true)
            let read = try NormalizedQuery(query, aggregating: sum.fields)
            let expected = try await RunAggregationQuery.call(.init(sum, of: read), in: context).results
            guard case .integer(let count)? = expected["n" as UTF8Key] else { continue }
            let baseline = "sum of \(name), reading documents"
            report.add(
                try await Measurement.run(baseline, operations: Int(count), unit: "document") {
                    _ = try await RunAggregationQuery.call(.init(sum, of: read), in: context)
                }
            )
            let first = try await RunAggregationQuery.call(.init(sum, of: indexed), in: context)
            guard first.results == expected else { throw ValidationError("The sums differ: \(first.results), \(expected)") }
            let rounds = 10
            var measurement = try await Measurement.run(
                "sum of \(name)",
                operations: rounds * Int(count),
                unit: "document",
                target: Measurement.Target(baseline: baseline, ratio: 1)
            ) {
                for _ in 0..<rounds { _ = try await RunAggregationQuery.call(.init(sum, of: indexed), in: context) }
            }
            measurement.quantities = [
                .init(
                    name: "scanned index entries",
                    value: Double(rounds * first.metrics.entriesScanned) / (measurement.elapsed / .seconds(1)),
                    unit: "entries/s"
                )
            ]
            report.add(measurement)
            print("    \(first.metrics.plan.joined(separator: ". "))")
        }
    }

    /// Measures an offset. The baseline has a range of another field, which requires reading the skipped documents.
    private func measureOffsets(_ context: ServiceContext, into report: inout Report) async throws {
        let offset = documents / 10
        let baseline = "offset \(offset), reading the skipped documents"
        var query = StructuredQuery(.collection(try CollectionPath("large")), offset: offset, limit: .first(100))
        query.orders = [StructuredQuery.Order(.field(try FieldPath("isbn")))]
        let skipped = try NormalizedQuery(query)
        query.filter = .field(try FieldPath("shelf"), .greaterOrEqual(.integer(0)))
        let read = try NormalizedQuery(query)
        let rounds = 10
        for (name, query, target) in [
            (baseline, read, nil), ("offset \(offset)", skipped, Measurement.Target(baseline: baseline, ratio: 1)),
        ] {
            let first = try await RunQuery.call(.init(query), in: context)
            report.add(
                try await Measurement.run(name, operations: rounds * offset, unit: "skipped document", target: target) {
                    for _ in 0..<rounds { _ = try await RunQuery.call(.init(query), in: context) }
                }
            )
            print("    \(first.metrics.plan.joined(separator: ". "))")
        }
    }
}
