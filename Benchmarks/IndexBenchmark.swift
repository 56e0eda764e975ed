import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Foundation
import Glibc
import Logging

/// The cost of index maintenance and of rebuilding the index.
struct IndexBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Durable creates until they are indexed, opening with an existing index, and rebuilding the index."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents.")
    var documents = 100_000

    @Option(help: "Number of concurrent callers.")
    var callers = 64

    @Option(help: "Number of documents per commit.")
    var batch = 1

    func validate() throws {
        guard documents >= 1_000, callers >= 1, batch >= 1 else {
            throw ValidationError("Requires at least 1,000 documents, 1 caller and 1 document per commit.")
        }
    }

    func run() async throws {
        var report = Report()
        var generator = DocumentGenerator(seed: options.seed)
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                let data = folder + "/data"
                try await measureCreates(in: data, &generator, into: &report)
                try await measureOpening("open with an index", data, maximumSeconds: 2, into: &report)
                report.add(
                    try await Measurement.run(Self.tar, operations: documents, unit: "document") {
                        let program = try SpawnedProcess("/bin/sh", ["-c", "tar -cf - -C '\(data)' documents | cat >/dev/null"])
                        program.wait()
                    }
                )
                try FileManager.default.removeItem(atPath: data + "/index.sqlite")
                try await measureOpening("rebuild the index", data, target: .init(baseline: Self.tar, ratio: 0.25), into: &report)
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    /// Measures creates in ten parts, to show how the cost grows and to limit memory usage.
    private func measureCreates(
        in data: String,
        _ generator: inout DocumentGenerator,
        into report: inout Report
    ) async throws {
        let store = try await FileStore.open(FileStoreConfiguration(folder: data), logger: .benchmark)
        let collection = try CollectionPath("documents")
        for part in 0..<10 {
            let count = documents / 10
            var commits: [[Write]] = []
            for start in stride(from: part * count, to: (part + 1) * count, by: batch) {
                commits.append(
                    try (start..<min(start + batch, (part + 1) * count)).map {
                        .create(collection.document(try DocumentPath.ID("d\($0)")), generator.next(), transforms: [])
                    }
                )
            }
            report.add(
                try await Measurement.run(
                    "create and index, up to \((part + 1) * count)",
                    operations: count,
                    unit: "document"
                ) { [commits] in
                    try await forEachConcurrently(commits, callers) { writes in _ = try await store.commit(writes) }
                    try await store.waitUntilIndexed()
                }
            )
        }
        await store.close()
        let size = try FileManager.default.attributesOfItem(atPath: data + "/index.sqlite")[.size] as? Int ?? 0
        print("Index size: \(size >> 20) MiB, \(size / documents) bytes per document")
    }

    private static let tar = "tar of all files to /dev/null"

    private func measureOpening(
        _ name: String,
        _ data: String,
        maximumSeconds: Double? = nil,
        target: Measurement.Target? = nil,
        into report: inout Report
    ) async throws {
        var store: FileStore?
        var measurement = try await Measurement.run(name, operations: documents, unit: "document", target: target) {
            let opened = try await FileStore.open(FileStoreConfiguration(folder: data), logger: .benchmark)
            try await opened.waitUntilIndexed()
            store = opened
        }
        measurement.quantities = [
            .init(name: "time", value: measurement.elapsed / .seconds(1), unit: "s", maximum: maximumSeconds),
            .init(name: "memory of store and benchmark", value: try HearthBench.residentMebibytes(), unit: "MiB", maximum: 400),
        ]
        report.add(measurement)
        await store?.close()
    }
}
