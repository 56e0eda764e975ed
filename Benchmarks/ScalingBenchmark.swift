import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import HearthAPI
import UTF8Text

/// The rate of calls against the number of connections, and the cost of a query against the size of its collection, as plots.
struct ScalingBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "scaling",
        abstract: "Calls from 1 to 256 connections, and queries on collections of 1,000 to 1,000,000 documents, with plots."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of connections; one run for each value.")
    var connections = [1, 4, 16, 64, 256]

    @Option(help: "Number of documents in the collection of a query; one run for each value.")
    var sizes = [1_000, 10_000, 100_000, 1_000_000]

    @Option(help: "Duration of a run in seconds.")
    var seconds = 2

    @Option(help: "Write the plots rate-by-connections.svg and query-by-size.svg to this folder.")
    var plots: String?

    @Option(help: "Path of the hearth executable; the default is the one next to this program.")
    var hearth: String?

    func validate() throws {
        guard seconds >= 1, connections.allSatisfy({ $0 >= 1 }), sizes.allSatisfy({ $0 >= 1_000 }) else {
            throw ValidationError("Requires at least 1 connection, 1 second and collections of 1,000 documents.")
        }
    }

    func run() async throws {
        var report = Report()
        var rates = LinePlot(
            title: "Calls per second by number of connections",
            horizontalLabel: "connections",
            verticalLabel: "calls per second"
        )
        var costs = LinePlot(
            title: "Time of a query for 100 documents by size of the collection",
            horizontalLabel: "documents in the collection",
            verticalLabel: "milliseconds"
        )
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                rates.series = try await measureConnections(in: folder, into: &report)
            }
            for size in sizes {
                try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                    for (workload, milliseconds) in try await measureQueries(size, in: folder, into: &report) {
                        costs.add(x: Double(size), y: milliseconds, to: workload)
                    }
                }
            }
        }
        if let path = options.json { try report.write(to: path) }
        if let plots {
            try RawFileIO.write(Array(rates.svg.utf8), to: plots + "/rate-by-connections.svg")
            try RawFileIO.write(Array(costs.svg.utf8), to: plots + "/query-by-size.svg")
        }
    }

    private func measureConnections(in folder: String, into report: inout Report) async throws -> [LinePlot.Series] {
        let documents = PeerDocuments(count: 2_000)
        let peer = try await HearthPeer(documents, program: hearth ?? SpawnedProcess.sibling("hearth"), watchers: 1, in: folder)
        defer { peer.stop() }
        var series: [LinePlot.Series] = []
        for (workload, name) in [(PeerWorkload.read, "get"), (.list, "list of 100"), (.create, "create")] {
            var points: [LinePlot.Point] = []
            for count in connections {
                let load = PeerLoad(
                    connections: count,
                    callers: 1,
                    watchers: 1,
                    watchedCommits: 1,
                    duration: .seconds(seconds),
                    documents: documents,
                    run: count
                )
                let clock = ContinuousClock()
                let processorStart = try peer.processorTime()
                let start = clock.now
                let operations = try await peer.run(workload, load) ?? 0
                let measurement = Measurement(
                    name: "\(name), \(count) connections",
                    operations: max(1, operations),
                    unit: "call",
                    elapsed: clock.now - start,
                    processorTime: try peer.processorTime() - processorStart
                )
                report.add(measurement)
                points.append(LinePlot.Point(x: Double(count), y: measurement.rate))
            }
            series.append(LinePlot.Series(name: name, points: points))
        }
        return series
    }

    /// Returns the time of each query in milliseconds.
    private func measureQueries(_ size: Int, in folder: String, into report: inout Report) async throws -> [(String, Double)] {
        let store = try await FileStore.open(FileStoreConfiguration(folder: folder + "/data"), logger: .benchmark)
        let collection = try CollectionPath("documents")
        var generator = DocumentGenerator(seed: options.seed)
        let groups = max(1, size / 100)
        for start in stride(from: 0, to: size, by: 500) {
            let writes = try (start..<min(start + 500, size)).map { index in
                var fields = generator.next()
                fields["group"] = .integer(Int64(index % groups))
                return Write.create(collection.document(try DocumentPath.ID("d\(index)")), fields)
            }
            _ = try await store.commit(writes)
        }
        try await store.waitUntilIndexed()
        let context = ServiceContext(store: store)
        let equality = QueryFilter.field(try FieldPath("group"), .equal(.integer(7)))
        let half = QueryFilter.field(try FieldPath("available"), .equal(.boolean(true)))
        let order = [StructuredQuery.Order(.field(try FieldPath("isbn")))]
        var results: [(String, Double)] = []
        for (name, filter, orders) in [
            ("equality", equality, []), ("order", nil, order), ("equality matching half, order", half, order),
        ] {
            let query = try NormalizedQuery(
                StructuredQuery(.collection(collection), where: filter, orders: orders, limit: .first(100))
            )
            let rounds = 100
            let measurement = try await Measurement.run(
                "\(name), \(size) documents",
                operations: rounds,
                unit: "call"
            ) {
                for _ in 0..<rounds { _ = try await RunQuery.call(.init(query), in: context) }
            }
            report.add(measurement)
            results.append((name, measurement.elapsed / .milliseconds(1) / Double(rounds)))
        }
        await store.close()
        return results
    }
}
