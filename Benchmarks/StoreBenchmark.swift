import ArgumentParser
import DocumentModel
import DocumentStore
import FileStore
import Logging

/// Durable writes and reads of the embedded store, compared with bare file operations.
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Durable writes and reads, compared with file replacement without sync and with a sync per file."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "Number of documents per workload.")
    var documents = 20_000

    @Option(help: "Number of concurrent callers.")
    var callers = 64

    @Flag(help: "Measure small commits next to commits of 20,000 writes instead.")
    var besideBig = false

    func validate() throws {
        guard documents >= 1_000, callers >= 1 else {
            throw ValidationError("Requires at least 1,000 documents and 1 caller.")
        }
    }

    func run() async throws {
        var report = Report()
        var generator = DocumentGenerator(seed: options.seed)
        let documents = try generator.documents(documents)
        try await BackgroundLoad.with(options.busy) {
            try await RawFileIO.withTemporaryFolder(in: options.folder) { folder in
                let store = try await FileStore.open(FileStoreConfiguration(folder: folder + "/data"), logger: .benchmark)
                if besideBig {
                    try await LargeCommitBenchmark(store: store, documents: documents, count: documents.count / 10).run(
                        into: &report
                    )
                    await store.close()
                    return
                }
                // First, since the kernel writes back the files of the other measurements in the background, which delays syncs.
                try await DiskBaseline.measureSync(count: documents.count / 20, in: folder, into: &report)
                try await measureSingleCaller(store, documents.prefix(documents.count / 20), into: &report)
                try await DiskBaseline.measureFiles(documents, in: folder, into: &report)
                try await measureConcurrentCallers(store, documents, into: &report)
                await store.close()
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measureSingleCaller(
        _ store: FileStore,
        _ documents: ArraySlice<Document>,
        into report: inout Report
    ) async throws {
        let collection = try CollectionPath("alone")
        report.add(
            try await Measurement.run(
                "create, 1 caller",
                operations: documents.count,
                unit: "document",
                target: .init(baseline: DiskBaseline.journalSync, ratio: 1 / 1.5)
            ) {
                for document in documents {
                    _ = try await store.commit([.create(collection.document(document.path.id), document.fields, transforms: [])])
                }
            }
        )
    }

    private func measureConcurrentCallers(_ store: FileStore, _ documents: [Document], into report: inout Report) async throws {
        let writes = documents.map { Write.create($0.path, $0.fields, transforms: []) }
        report.add(
            try await Measurement.run(
                "create, \(callers) callers",
                operations: writes.count,
                unit: "document",
                target: .init(baseline: DiskBaseline.unsynced, ratio: 0.5)
            ) {
                try await forEachConcurrently(writes, callers) { write in _ = try await store.commit([write]) }
            }
        )
        report.add(
            try await Measurement.run("get, \(callers) callers", operations: documents.count, unit: "document") {
                try await forEachConcurrently(documents, callers) { document in _ = try await store.document(at: document.path) }
            }
        )
        let collection = try CollectionPath("batches")
        let copies = documents.map { Write.create(collection.document($0.path.id), $0.fields, transforms: []) }
        report.add(
            try await Measurement.run(
                "create, 500 per commit, 1 caller",
                operations: copies.count,
                unit: "document",
                target: .init(baseline: DiskBaseline.unsynced, ratio: 0.6)
            ) {
                for start in stride(from: 0, to: copies.count, by: 500) {
                    _ = try await store.commit(Array(copies[start..<min(start + 500, copies.count)]))
                }
            }
        )
    }
}
