import ArgumentParser
import DocumentModel
import DocumentStore
import Foundation
import Glibc
import Logging

/// What the index adds to writing, and what it takes to make it anew.
struct IndexBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "index",
        abstract: "Durable creates until they are in the index, opening with an index and making it anew."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many documents.")
    var documents = 100_000

    @Option(help: "How many callers write at once.")
    var callers = 64

    @Option(help: "How many documents each commit creates.")
    var batch = 1

    func validate() throws {
        guard documents >= 1_000, callers >= 1, batch >= 1 else {
            throw ValidationError("At least 1,000 documents, 1 caller and 1 document in a commit are needed.")
        }
    }

    func run() async throws {
        var report = Report()
        var generator = GeneratedDocuments(seed: options.seed)
        try await BusyCores.with(options.busy) {
            try await RawFile.withTemporaryFolder(in: options.folder) { folder in
                let data = folder + "/data"
                try await measureCreates(in: data, &generator, into: &report)
                try await measureOpening("open with the index", data, maximumSeconds: 2, into: &report)
                report.add(
                    try await Measurement.run(Self.tar, operations: documents, unit: "document") {
                        let program = try ChildProgram("/bin/sh", ["-c", "tar -cf - -C '\(data)' documents | cat >/dev/null"])
                        program.wait()
                    }
                )
                try FileManager.default.removeItem(atPath: data + "/index.sqlite")
                try await measureOpening("make the index anew", data, target: .init(limit: Self.tar, share: 0.25), into: &report)
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    /// A tenth at a time, so that it shows how the cost grows, and not all documents need be in memory.
    private func measureCreates(
        in data: String,
        _ generator: inout GeneratedDocuments,
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
                        .create(collection.document(try DocumentID("d\($0)")), generator.next(), transforms: [])
                    }
                )
            }
            report.add(
                try await Measurement.run(
                    "create in the index, up to \((part + 1) * count)",
                    operations: count,
                    unit: "document"
                ) { [commits] in
                    try await inParallel(commits, callers) { writes in _ = try await store.commit(writes) }
                    try await store.waitUntilIndexed()
                }
            )
        }
        await store.close()
        let size = try FileManager.default.attributesOfItem(atPath: data + "/index.sqlite")[.size] as? Int ?? 0
        print("The index has \(size >> 20) MiB, \(size / documents) bytes a document")
    }

    private static let tar = "tar of all files into nothing"

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
