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
        let documents = try (0..<documents).map { index in
            Document(
                path: try DocumentPath("documents/d\(index)"),
                fields: generator.next(),
                createTime: .minimum,
                updateTime: .minimum
            )
        }
        try await RawFile.withTemporaryFolder(in: options.folder) { folder in
            try await measureLimits(documents, in: folder, into: &report)
            let store = try await FileStore.open(FileStoreConfiguration(folder: folder + "/data"), logger: Self.logger)
            try await measureStore(store, documents, into: &report)
            await store.close()
        }
        if let path = options.json { try report.write(to: path) }
    }

    private func measureLimits(_ documents: [Document], in folder: String, into report: inout Report) async throws {
        let files = documents.map { DocumentFile.encode($0, storesID: false) }
        report.add(
            try await measure("create and rename, no sync", operations: files.count, unit: "document") {
                for (index, file) in files.enumerated() { try RawFile.replace(folder + "/raw-\(index).json", with: file) }
            }
        )
        let few = files.prefix(files.count / 20)
        report.add(
            try await measure("write, fsync, rename, fsync folder", operations: few.count, unit: "document") {
                for (index, file) in few.enumerated() {
                    try RawFile.replaceDurably("naive-\(index).json", in: folder, with: file)
                }
            }
        )
        let block = [UInt8](repeating: 0x68, count: 1_024)
        report.add(
            try await measure("append and sync 1 KiB", operations: few.count, unit: "sync") {
                try RawFile.appendAndSync(block, count: few.count, to: folder + "/journal")
            }
        )
    }

    private func measureStore(_ store: FileStore, _ documents: [Document], into report: inout Report) async throws {
        let unsynced = "create and rename, no sync"
        let writes = documents.map { Write.create($0.path, $0.fields, transforms: []) }
        report.add(
            try await measure(
                "create, \(callers) callers",
                operations: writes.count,
                unit: "document",
                target: .init(limit: unsynced, share: 0.5)
            ) {
                try await inParallel(writes) { write in _ = try await store.commit([write]) }
            }
        )
        report.add(
            try await measure("get, \(callers) callers", operations: documents.count, unit: "document") {
                try await inParallel(documents) { document in _ = try await store.document(at: document.path) }
            }
        )
        let collection = try CollectionPath("batches")
        let copies = documents.map { Write.create(collection.document($0.path.id), $0.fields, transforms: []) }
        report.add(
            try await measure(
                "create, 500 to a commit, one caller",
                operations: copies.count,
                unit: "document",
                target: .init(limit: unsynced, share: 0.6)
            ) {
                for start in stride(from: 0, to: copies.count, by: 500) {
                    _ = try await store.commit(Array(copies[start..<min(start + 500, copies.count)]))
                }
            }
        )
        let alone = try CollectionPath("alone")
        let few = documents.prefix(documents.count / 20)
        report.add(
            try await measure(
                "create, one caller alone",
                operations: few.count,
                unit: "document",
                target: .init(limit: "append and sync 1 KiB", share: 1 / 1.5)
            ) {
                for document in few {
                    _ = try await store.commit([.create(alone.document(document.path.id), document.fields, transforms: [])])
                }
            }
        )
    }

    /// Runs `operation` on every item, `callers` at a time, each caller taking the next stride of the items.
    private func inParallel<Item: Sendable>(
        _ items: [Item],
        _ operation: @escaping @Sendable (Item) async throws -> Void
    ) async throws {
        let callers = callers
        try await withThrowingTaskGroup(of: Void.self) { group in
            for caller in 0..<callers {
                group.addTask {
                    for index in stride(from: caller, to: items.count, by: callers) { try await operation(items[index]) }
                }
            }
            try await group.waitForAll()
        }
    }

    private static let logger = {
        var logger = Logger(label: "hearth-bench")
        logger.logLevel = .warning
        return logger
    }()
}
