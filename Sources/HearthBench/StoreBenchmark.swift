import ArgumentParser
import DocumentModel
import DocumentStore
import Logging

/// Durable writes and reads of the embedded store, beside what the file system can do.
struct StoreBenchmark: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "store",
        abstract: "Durable writes and reads, beside the same files without sync and beside the naive durable way."
    )

    @OptionGroup var options: BenchmarkOptions

    @Option(help: "How many documents each workload writes.")
    var documents = 20_000

    @Option(help: "How many callers write at once.")
    var callers = 64

    func validate() throws {
        guard documents >= 1_000, callers >= 1 else {
            throw ValidationError("At least 1,000 documents and 1 caller are needed for figures that mean something.")
        }
    }

    func run() async throws {
        var report = Report()
        var generator = GeneratedDocuments(seed: options.seed)
        let documents = try generator.documents(documents)
        try await BusyCores.with(options.busy) {
            try await RawFile.withTemporaryFolder(in: options.folder) { folder in
                let store = try await FileStore.open(FileStoreConfiguration(folder: folder + "/data"), logger: .benchmark)
                // Before the many files, which the kernel goes on writing while a sync waits.
                try await DiskLimits.measureSync(count: documents.count / 20, in: folder, into: &report)
                try await measureAlone(store, documents.prefix(documents.count / 20), into: &report)
                try await DiskLimits.measureFiles(documents, in: folder, into: &report)
                try await measureTogether(store, documents, into: &report)
                await store.close()
            }
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measureAlone(
        _ store: FileStore,
        _ documents: ArraySlice<Document>,
        into report: inout Report
    ) async throws {
        let alone = try CollectionPath("alone")
        report.add(
            try await Measurement.run(
                "create, one caller alone",
                operations: documents.count,
                unit: "document",
                target: .init(limit: DiskLimits.journalSync, share: 1 / 1.5)
            ) {
                for document in documents {
                    _ = try await store.commit([.create(alone.document(document.path.id), document.fields, transforms: [])])
                }
            }
        )
    }

    private func measureTogether(_ store: FileStore, _ documents: [Document], into report: inout Report) async throws {
        let writes = documents.map { Write.create($0.path, $0.fields, transforms: []) }
        report.add(
            try await Measurement.run(
                "create, \(callers) callers",
                operations: writes.count,
                unit: "document",
                target: .init(limit: DiskLimits.unsynced, share: 0.5)
            ) {
                try await inParallel(writes, callers) { write in _ = try await store.commit([write]) }
            }
        )
        report.add(
            try await Measurement.run("get, \(callers) callers", operations: documents.count, unit: "document") {
                try await inParallel(documents, callers) { document in _ = try await store.document(at: document.path) }
            }
        )
        let collection = try CollectionPath("batches")
        let copies = documents.map { Write.create(collection.document($0.path.id), $0.fields, transforms: []) }
        report.add(
            try await Measurement.run(
                "create, 500 to a commit, one caller",
                operations: copies.count,
                unit: "document",
                target: .init(limit: DiskLimits.unsynced, share: 0.6)
            ) {
                for start in stride(from: 0, to: copies.count, by: 500) {
                    _ = try await store.commit(Array(copies[start..<min(start + 500, copies.count)]))
                }
            }
        )
    }
}
